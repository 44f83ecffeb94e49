//! What a persistent process prints between two payloads, taken apart into the answer and the rest.

use std::os::fd::OwnedFd;

use hooksd_protocol::outcome::Captured;
use nix::errno::Errno;

use crate::stream::CHUNK;

/// One stream while an event is in flight; the first bytes are kept, all are counted.
#[derive(Debug)]
pub(crate) struct Heard {
    kept: Captured,
    cap: usize,
    /// Where the first line ended, in bytes of the whole stream.
    line_end: Option<u64>,
}

impl Heard {
    pub(crate) fn new(cap: usize) -> Heard {
        Heard { kept: Captured::default(), cap, line_end: None }
    }

    /// One read of what is there. The number of bytes; 0 at the end of the stream.
    pub(crate) fn read(&mut self, pipe: &OwnedFd) -> Result<usize, Errno> {
        CHUNK.with_borrow_mut(|chunk| {
            let count = nix::unistd::read(pipe, &mut *chunk)?;
            self.take(chunk.get(..count).unwrap_or_default());
            Ok(count)
        })
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.line_end.is_none() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            self.line_end = end.map(|end| self.kept.total + end as u64);
        }
        let room = self.cap.saturating_sub(self.kept.bytes.len());
        self.kept.bytes.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
        self.kept.total += bytes.len() as u64;
    }

    /// Whether there is a whole line.
    pub(crate) fn has_line(&self) -> bool {
        self.line_end.is_some()
    }

    /// Whether there is more than one line, or a piece of one.
    pub(crate) fn has_more(&self) -> bool {
        self.line_end.is_some_and(|end| self.kept.total > end + 1)
    }

    /// Everything.
    pub(crate) fn into_all(self) -> Captured {
        self.kept
    }

    /// The line alone, without its end; everything when there is none.
    pub(crate) fn into_line(mut self) -> Captured {
        if let Some(end) = self.line_end {
            self.kept.bytes.truncate(usize::try_from(end).unwrap_or(usize::MAX));
            self.kept.total = end;
        }
        self.kept
    }
}

/// A payload as one line. Outside of strings a line end is white space, and inside it cannot stand.
pub(crate) fn as_line(payload: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(payload.len() + 1);
    line.extend_from_slice(payload);
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(cap: usize, pieces: &[&str]) -> Heard {
        let mut heard = Heard::new(cap);
        pieces.iter().for_each(|piece| heard.take(piece.as_bytes()));
        heard
    }

    #[test]
    fn the_first_line_is_the_answer_however_it_comes() {
        for pieces in [&["{}\n"][..], &["{", "}", "\n"], &["{}", "\n"]] {
            let heard = heard(100, pieces);
            assert!(heard.has_line() && !heard.has_more());
            assert_eq!(heard.into_line(), Captured { bytes: b"{}".to_vec(), total: 2 });
        }
        for pieces in [&["{}\n{"][..], &["{}\n", "\n"], &["{", "}\nx"]] {
            assert!(heard(100, pieces).has_more(), "{pieces:?}");
        }
        assert!(!heard(100, &["{}"]).has_line());
    }

    #[test]
    fn a_line_over_the_cap_is_counted_to_its_end() {
        let heard = heard(3, &["ab", "cdef", "gh\n"]);
        assert!(heard.has_line() && !heard.has_more());
        let line = heard.into_line();
        assert_eq!(line, Captured { bytes: b"abc".to_vec(), total: 8 });
        assert!(line.truncated());
    }

    #[test]
    fn a_payload_is_one_line() {
        assert_eq!(as_line(b"{\r\n \"a\":\n1}"), b"{   \"a\": 1}\n");
    }
}

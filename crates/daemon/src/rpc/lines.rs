//! Lines of a stream, within a bound: a longer line costs one remark, and the next line is read as ever (B77).

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::base::budget::UNCOUNTED;
use crate::base::partial_lines::PartialLineLease;

/// How much is read at once, and kept while nothing comes. Bytes. The usual request fits.
const BUFFER: usize = 8 * 1024;

/// The most that is read at once in the middle of a long line. Bytes.
const LONG_READ: usize = 256 * 1024;

/// One line, or what stands in its place.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its end. May be empty.
    Complete(&'a [u8]),
    /// A line longer than the limit; reported as soon as it is, the rest of it is thrown away.
    TooLong,
    /// A line that had to give way to others (see [`PartialLineLease`]); the rest of it is thrown away.
    Cut,
    /// The end of the stream.
    End,
}

/// Splits a stream into lines. Cancel-safe: what was read stays in the buffer between calls (B75).
pub struct Lines<R> {
    reader: R,
    limit: usize,
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer.
    start: usize,
    /// Up to where the buffer was searched for a line end, without finding one.
    searched: usize,
    /// Whether the rest of a line that was too long is being thrown away.
    discarding: bool,
    ended: bool,
    /// What the buffer holds of the memory of all unfinished lines.
    lease: PartialLineLease,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The lines of a stream, none longer than `limit` bytes.
    pub fn new(reader: R, limit: usize, lease: PartialLineLease) -> Lines<R> {
        let buffer = Vec::with_capacity(BUFFER);
        Lines { reader, limit, buffer, start: 0, searched: 0, discarding: false, ended: false, lease }
    }

    /// The stream that the lines are read from.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Whether the next line has arrived already.
    pub fn has_line(&self) -> bool {
        self.line_end().is_some()
    }

    /// The next line. The last one may lack its end.
    ///
    /// # Errors
    /// When the stream fails.
    pub async fn next(&mut self) -> std::io::Result<Line<'_>> {
        loop {
            if let Some(end) = self.line_end() {
                let (start, length) = (self.start, end - self.start);
                (self.start, self.searched) = (end + 1, end + 1);
                if std::mem::take(&mut self.discarding) {
                    continue;
                }
                return Ok(if length > self.limit { Line::TooLong } else { self.complete(start, end) });
            }
            self.searched = self.buffer.len();
            if self.discarding {
                self.start = self.searched;
            } else if self.searched - self.start > self.limit {
                self.start = self.searched;
                self.discarding = true;
                return Ok(Line::TooLong);
            }
            if self.ended {
                let start = std::mem::replace(&mut self.start, self.searched);
                let is_line = start < self.searched;
                return Ok(if is_line { self.complete(start, self.searched) } else { Line::End });
            }
            if !self.make_room().await {
                return Ok(self.cut());
            }
            let read = tokio::select! {
                biased;
                read = self.reader.read_buf(&mut self.buffer) => read?,
                () = self.lease.cut.cancelled() => return Ok(self.cut()),
            };
            self.ended = read == 0;
        }
    }

    /// Where the next line ends, if it does.
    fn line_end(&self) -> Option<usize> {
        memchr(b'\n', self.buffer.get(self.searched..)?).map(|at| self.searched + at)
    }

    fn complete(&self, start: usize, end: usize) -> Line<'_> {
        let line = self.buffer.get(start..end).unwrap_or_default();
        Line::Complete(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Gives up the line that has begun, so that others have its memory.
    fn cut(&mut self) -> Line<'static> {
        self.buffer = Vec::with_capacity(BUFFER);
        (self.start, self.searched, self.discarding) = (0, 0, true);
        self.lease.free();
        Line::Cut
    }

    /// Room to read into; false when there is none for so long a line. What was taken goes, and a buffer that grew for
    /// a long line shrinks after it.
    async fn make_room(&mut self) -> bool {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            (self.start, self.searched) = (0, self.searched - self.start);
        }
        if self.buffer.is_empty() && self.buffer.capacity() > UNCOUNTED {
            self.buffer = Vec::with_capacity(BUFFER);
            self.lease.free();
        }
        if self.buffer.len() == self.buffer.capacity() {
            let more = self.buffer.len().clamp(BUFFER, LONG_READ);
            if !self.lease.grow(self.buffer.len() + more).await {
                return false;
            }
            self.buffer.reserve_exact(more);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;
    use crate::base::partial_lines::PartialLineBudget;

    async fn split(text: &[u8], part: usize) -> Vec<Option<String>> {
        let (mut sender, receiver) = duplex(part);
        let text = text.to_vec();
        tokio::spawn(async move { sender.write_all(&text).await });
        let lease = Arc::<PartialLineBudget>::default().lease();
        let mut lines = Lines::new(receiver, 10, lease);
        let mut all = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::End => return all,
                Line::TooLong | Line::Cut => all.push(None),
                Line::Complete(line) => all.push(Some(String::from_utf8(line.to_vec()).unwrap())),
            }
        }
    }

    #[tokio::test]
    async fn any_split_of_the_bytes_gives_the_same_lines() {
        let line = |text: &str| Some(text.to_owned());
        let text = "a\r\n\n0123456789\nfar too long for it\nb\nunended".as_bytes();
        let expected = || vec![line("a"), line(""), line("0123456789"), None, line("b"), line("unended")];
        for part in 1..text.len() + 1 {
            assert_eq!(split(text, part).await, expected(), "parts of {part}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn lines_are_what_stands_between_line_ends_however_the_bytes_arrive(
            (text, part) in ("[a\\r\\n]{0,60}", 1..61usize)
        ) {
            let line = |line: &str| (line.len() <= 10).then(|| line.strip_suffix('\r').unwrap_or(line).to_owned());
            let expected: Vec<Option<String>> =
                text.strip_suffix('\n').unwrap_or(&text).split('\n').map(line).collect();
            let expected = if text.is_empty() { Vec::new() } else { expected };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            prop_assert_eq!(runtime.block_on(split(text.as_bytes(), part)), expected);
        }
    }

    #[tokio::test]
    async fn b77_a_line_that_is_too_long_is_one_remark_even_without_an_end() {
        assert_eq!(split(&[b'x'; 1000], 7).await, vec![None]);
        let mut text = vec![b'x'; 1000];
        text.extend_from_slice(b"\nok\n");
        assert_eq!(split(&text, 7).await, vec![None, Some("ok".to_owned())]);
    }
}

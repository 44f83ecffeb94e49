//! Lines of a stream, within a bound: a longer line costs one remark, and the next line is read as ever (B77).

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// One line, or what stands in its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end. May be empty.
    Complete(Vec<u8>),
    /// A line longer than the limit; reported as soon as it is, the rest of it is thrown away.
    TooLong,
    /// The end of the stream.
    End,
}

/// Splits a stream into lines. Cancel-safe: what was read stays in the buffer between calls (B75).
pub(crate) struct Lines<R> {
    reader: R,
    limit: usize,
    line: Vec<u8>,
    /// Throwing away the rest of a line that was too long.
    discarding: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Lines<R> {
        Lines { reader, limit, line: Vec::new(), discarding: false }
    }

    /// The stream.
    pub(crate) fn reader(&self) -> &R {
        &self.reader
    }

    /// The next line. The last one may lack its end.
    ///
    /// # Errors
    /// When the stream fails.
    pub(crate) async fn next(&mut self) -> std::io::Result<Line> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                let last = std::mem::take(&mut self.line);
                let is_line = !last.is_empty() && !self.discarding;
                return Ok(if is_line { Line::Complete(last) } else { Line::End });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let (part, consumed) = match end {
                Some(end) => (available.get(..end).unwrap_or_default(), end + 1),
                None => (available, available.len()),
            };
            let fits = self.line.len() + part.len() <= self.limit;
            if fits && !self.discarding {
                self.line.extend_from_slice(part);
            }
            self.reader.consume(consumed);
            match (self.discarding, fits, end.is_some()) {
                (true, _, ended) => self.discarding = !ended,
                (false, true, true) => {
                    let mut line = std::mem::take(&mut self.line);
                    if line.last() == Some(&b'\r') {
                        line.pop();
                    }
                    return Ok(Line::Complete(line));
                }
                (false, true, false) => {}
                (false, false, ended) => {
                    self.line = Vec::new();
                    self.discarding = !ended;
                    return Ok(Line::TooLong);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    async fn split(text: &[u8], buffer: usize) -> Vec<Line> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text), 10);
        let mut all = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::End => return all,
                line => all.push(line),
            }
        }
    }

    #[tokio::test]
    async fn any_split_of_the_bytes_gives_the_same_lines() {
        let line = |text: &str| Line::Complete(text.as_bytes().to_vec());
        let text = "a\r\n\n0123456789\nfar too long for it\nb\nunended".as_bytes();
        let expected =
            || vec![line("a"), line(""), line("0123456789"), Line::TooLong, line("b"), line("unended")];
        for buffer in 1..text.len() + 1 {
            assert_eq!(split(text, buffer).await, expected(), "buffer of {buffer}");
        }
    }

    #[tokio::test]
    async fn b77_a_line_that_is_too_long_is_one_remark_even_without_an_end() {
        assert_eq!(split(&[b'x'; 1000], 7).await, vec![Line::TooLong]);
        let mut text = vec![b'x'; 1000];
        text.extend_from_slice(b"\nok\n");
        assert_eq!(split(&text, 7).await, vec![Line::TooLong, Line::Complete(b"ok".to_vec())]);
    }
}

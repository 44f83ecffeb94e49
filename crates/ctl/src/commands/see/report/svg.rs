//! Pictures as text, and text that cannot become markup.

use std::fmt::Write;

/// `text` as it may stand in HTML, between tags and within quotes. Characters that a page may not have are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // Controls, and what turns the direction of what follows.
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

/// Microseconds as people read them, as short as a picture wants them.
pub(super) fn time(micros: u64) -> String {
    let tenths = |unit: u64, name: &str| match (micros / unit, micros % unit * 10 / unit) {
        (whole @ 100.., _) | (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    };
    match micros {
        0 => "0".to_owned(),
        1..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => tenths(1_000, "ms"),
        1_000_000..600_000_000 => tenths(1_000_000, "s"),
        _ => tenths(60_000_000, "min"),
    }
}

/// A text cut to so many characters, escaped.
pub(super) fn short(text: &str, most: usize) -> String {
    let line: String = text.trim().chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    if line.chars().count() <= most {
        return escape(&line);
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", escape(cut.trim_end()))
}

/// A picture. Lengths are CSS pixels at its full width.
pub(super) struct Svg {
    width: f64,
    height: f64,
    label: String,
    body: String,
}

/// Where a text has its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    End,
}

impl Svg {
    /// An empty one; `label` says in a sentence what it shows.
    pub(super) fn new(width: f64, height: f64, label: &str) -> Svg {
        Svg { width, height, label: label.to_owned(), body: String::new() }
    }

    /// A rectangle of a class, with a text that is shown when it is pointed at.
    pub(super) fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4], title: &str) {
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}">{title}</rect>"#
        );
    }

    pub(super) fn line(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
        let _ = writeln!(
            self.body,
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        );
    }

    /// A text that is escaped and cut to so many characters.
    pub(super) fn text(&mut self, class: &str, [x, y]: [f64; 2], anchor: Anchor, text: &str, most: usize) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::End => "end",
        };
        let whole = if text.chars().count() > most {
            format!("<title>{}</title>", escape(text))
        } else {
            String::new()
        };
        let text = short(text, most);
        let _ = writeln!(
            self.body,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}{whole}</text>"#
        );
    }

    pub(super) fn finish(self) -> String {
        let Svg { width, height, label, body } = self;
        format!(
            "<div class=\"chart\"><svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n{body}</svg></div>\n",
            escape(&label)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let times = [0, 7, 1_000, 1_250, 123_456, 8_000_000, 61_500_000, 900_000_000].map(time);
        assert_eq!(times, ["0", "7 µs", "1 ms", "1.2 ms", "123 ms", "8 s", "61.5 s", "15 min"]);
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(escape("<script>&\"'\u{1b}\u{202e}"), "&lt;script&gt;&amp;&quot;&#39;\u{fffd}\u{fffd}");
        assert_eq!(short(" <b>\nlong ", 4), "&lt;b&gt;…");
        let mut svg = Svg::new(10.0, 10.0, "\"><x>");
        svg.text("t", [0.0, 0.0], Anchor::End, "</text><x>", 40);
        svg.rect("r", [0.0; 4], "</title><x>");
        assert!(!svg.finish().contains("<x>"));
    }
}

//! The pictures of a page.

use hooksd_protocol::timestamp::Timestamp;

use super::figures::{COLOURS, Figures, Tool};
use super::svg::{Anchor, Svg, escape, time};
use crate::commands::see::waterfall::{Kind, Lane, Waterfall};

/// How wide pictures are. CSS pixels at full width.
const WIDTH: f64 = 960.0;

/// The part of it that names have, on the left.
const NAMES: f64 = 210.0;

/// The characters that fit there.
const NAME_CHARACTERS: usize = 30;

/// The part that numbers have, on the right.
const NUMBERS: f64 = 90.0;

/// How far rows are apart.
const ROW: f64 = 26.0;

/// How high their bars are.
const BAR: f64 = 16.0;

/// A bar that stands for anything is seen.
const BAR_LEAST: f64 = 2.0;

/// The outcomes, strongest first, as bars have them from the left.
const OUTCOMES: [&str; 10] =
    ["deny", "stop", "failed", "ask", "continue", "feedback", "context", "allow", "none", "cancelled"];

#[expect(clippy::cast_precision_loss, reason = "a picture has no use for more digits")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a few rows")]
fn rows(number: usize) -> f64 {
    number as f64 * ROW
}

/// The next larger number whose quarters are short to write: 4, 6, 8, 10, 12, 16, 20, 24 or 32 and zeros.
fn round(micros: u64) -> u64 {
    let mut ten = 1_u64;
    loop {
        let steps = [4, 6, 8, 10, 12, 16, 20, 24, 32];
        if let Some(enough) = steps.iter().map(|step| step * ten).find(|enough| *enough >= micros) {
            return enough;
        }
        match ten.checked_mul(10) {
            Some(next) if next < u64::MAX / 32 => ten = next,
            _ => return micros,
        }
    }
}

/// A list of colours with their meaning.
pub(super) fn legend(entries: &[(String, String)]) -> String {
    let entries: Vec<String> = entries
        .iter()
        .map(|(class, word)| {
            format!(
                "<li><svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{class}\" \
                 width=\"10\" height=\"10\"/></svg>{}</li>",
                escape(word)
            )
        })
        .collect();
    format!("<ul class=\"legend\">{}</ul>\n", entries.join(""))
}

/// `2026-01-31 23:59` from microseconds since 1970.
fn minute(micros: i64) -> String {
    let seconds = u64::try_from(micros / 1_000_000).unwrap_or(0);
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    Timestamp::of(time).to_string().get(..16).unwrap_or_default().replace('T', " ")
}

/// Columns of time, each with what handlers have cost in it.
pub(super) fn over_time(figures: &Figures) -> String {
    const LEFT: f64 = 70.0;
    const TOP: f64 = 10.0;
    const HIGH: f64 = 200.0;
    let over = &figures.over_time;
    let columns = &over.columns;
    let most = round(columns.iter().map(|column| column.iter().sum::<u64>()).max().unwrap_or(0));
    let names: Vec<String> = figures.handlers.iter().take(COLOURS).map(|cost| cost.id.clone()).collect();
    let mut svg = Svg::new(WIDTH, TOP + HIGH + 30.0, "The time handlers ran, over time, by handler");
    for quarter in 0..=4_u64 {
        let y = TOP + HIGH * (1.0 - share(quarter, 4));
        svg.line("grid", [LEFT, y, WIDTH, y]);
        svg.text("axis", [LEFT - 8.0, y + 4.0], Anchor::End, &time(most / 4 * quarter), 12);
    }
    let wide = (WIDTH - LEFT) / rows(columns.len()).max(ROW) * ROW;
    for (index, column) in columns.iter().enumerate() {
        let x = LEFT + wide * rows(index) / ROW;
        let mut y = TOP + HIGH;
        let begin = over.from_us + over.column_us * i64::try_from(index).unwrap_or(0);
        for (handler, micros) in column.iter().enumerate().filter(|(_, micros)| **micros > 0) {
            let high = (HIGH * share(*micros, most)).max(1.0);
            y -= high;
            let name = names.get(handler).map_or("other handlers", String::as_str);
            let title = format!("{}: {name}, {}", minute(begin), time(*micros));
            svg.rect(&format!("c{handler}"), [x + 1.0, y, (wide - 2.0).max(1.0), high], &title);
        }
    }
    let end = over.from_us + over.column_us * i64::try_from(columns.len()).unwrap_or(0);
    svg.text("axis", [LEFT, TOP + HIGH + 20.0], Anchor::Start, &minute(over.from_us), 20);
    svg.text("axis", [WIDTH, TOP + HIGH + 20.0], Anchor::End, &minute(end), 20);
    let mut entries: Vec<(String, String)> =
        names.into_iter().enumerate().map(|(index, name)| (format!("c{index}"), name)).collect();
    if figures.handlers.len() > COLOURS {
        entries.push((format!("c{COLOURS}"), "all others".to_owned()));
    }
    legend(&entries) + &svg.finish()
}

/// One event: a row a handler.
pub(super) fn waterfall(event: &Waterfall) -> String {
    let high = rows(event.handlers.len()) + 24.0;
    let mut svg = Svg::new(WIDTH, high, &format!("When the handlers of one {} ran", event.event));
    let (total, wide) = (event.end_us(), WIDTH - NAMES - NUMBERS);
    for quarter in 0..=4_u64 {
        let x = NAMES + wide * share(quarter, 4);
        svg.line("grid", [x, 0.0, x, high - 20.0]);
        let anchor = if quarter == 0 { Anchor::Start } else { Anchor::End };
        svg.text("axis", [x, high - 6.0], anchor, &time(total / 4 * quarter), 12);
    }
    for (row, lane) in event.handlers.iter().enumerate() {
        let y = rows(row) + 4.0;
        svg.text("name", [NAMES - 10.0, y + 13.0], Anchor::End, &lane.id, NAME_CHARACTERS);
        for phase in &lane.phases {
            let x = NAMES + wide * share(phase.from_us, total);
            let length = (wide * share(phase.to_us - phase.from_us, total)).max(BAR_LEAST);
            let title = format!("{}: {} {}", lane.id, phase.kind.word(), time(phase.to_us - phase.from_us));
            svg.rect(class(phase.kind), [x, y, length, BAR], &title);
        }
        svg.text("number", [WIDTH - NUMBERS + 10.0, y + 13.0], Anchor::Start, &ended(lane), 14);
    }
    svg.finish()
}

fn ended(lane: &Lane) -> String {
    match lane.exit_code {
        Some(code) => format!("exit {code}"),
        None => lane.ended(),
    }
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Queue => "queue",
        Kind::Spawn => "spawn",
        Kind::Run => "run",
        Kind::Drain => "drain",
    }
}

/// What the colours of waterfalls mean.
pub(super) fn phases() -> String {
    legend(&Kind::ALL.map(|kind| (class(kind).to_owned(), kind.word().to_owned())))
}

/// How the events about each tool have ended.
pub(super) fn tools(tools: &[Tool]) -> String {
    let most = tools.iter().map(|tool| tool.events).max().unwrap_or(0);
    let mut svg = Svg::new(WIDTH, rows(tools.len()) + 4.0, "How the events about each tool were decided");
    let wide = WIDTH - NAMES - NUMBERS;
    let mut used = Vec::new();
    for (row, tool) in tools.iter().enumerate() {
        let y = rows(row) + 4.0;
        svg.text("name", [NAMES - 10.0, y + 13.0], Anchor::End, &tool.name, NAME_CHARACTERS);
        let mut x = NAMES;
        for outcome in OUTCOMES {
            let Some(events) = tool.outcomes.get(outcome) else { continue };
            if !used.contains(&outcome) {
                used.push(outcome);
            }
            let length = (wide * share(count(*events), count(most))).max(BAR_LEAST);
            let title = format!("{}: {events} {outcome}", tool.name);
            svg.rect(&format!("o-{outcome}"), [x, y, (length - 1.0).max(1.0), BAR], &title);
            x += length;
        }
        svg.text("number", [x + 8.0, y + 13.0], Anchor::Start, &tool.events.to_string(), 12);
    }
    let entries: Vec<(String, String)> = OUTCOMES
        .into_iter()
        .filter(|outcome| used.contains(outcome))
        .map(|outcome| (format!("o-{outcome}"), outcome.to_owned()))
        .collect();
    legend(&entries) + &svg.finish()
}

/// How often each of these was.
pub(super) fn counts(label: &str, class: &str, counts: &[(String, usize)]) -> String {
    let most = counts.iter().map(|(_, number)| *number).max().unwrap_or(0);
    let mut svg = Svg::new(WIDTH, rows(counts.len()) + 4.0, label);
    let wide = WIDTH - NAMES - NUMBERS;
    for (row, (name, number)) in counts.iter().enumerate() {
        let y = rows(row) + 4.0;
        svg.text("name", [NAMES - 10.0, y + 13.0], Anchor::End, name, NAME_CHARACTERS);
        let length = (wide * share(count(*number), count(most))).max(BAR_LEAST);
        svg.rect(class, [NAMES, y, length, BAR], &format!("{name}: {number}"));
        svg.text("number", [NAMES + length + 8.0, y + 13.0], Anchor::Start, &number.to_string(), 12);
    }
    svg.finish()
}

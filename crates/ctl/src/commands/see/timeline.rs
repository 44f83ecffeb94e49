//! `hooksctl timeline ID`: one event of the journal as bars.

use std::process::ExitCode;

use crate::arguments::Timeline;
use crate::commands::see::waterfall::{Kind, Lane, Waterfall};
use crate::failure::Failure;
use crate::journal::one_record;
use crate::print::{Printer, no_handler, one_line, outcome, safe, took, width};

/// From when on it is told that output stayed open. Microseconds. Less is how long a look takes.
const DRAIN_TOLD: u64 = 1000;

/// The narrowest bars. Columns.
const BAR_LEAST: usize = 20;

pub(crate) fn run(wanted: &Timeline, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let path = wanted.config_dir.journal()?;
    let waterfall = Waterfall::of(&one_record(&path, &wanted.id)?);
    printer.result(&waterfall, |lines| draw(&waterfall, width(), lines))
}

fn letter(kind: Kind) -> char {
    match kind {
        Kind::Queue => '.',
        Kind::Spawn => '+',
        Kind::Run => '#',
        Kind::Drain => '~',
    }
}

fn draw(event: &Waterfall, width: usize, lines: &mut Vec<String>) {
    let tool = event.tool.as_deref().map(|tool| format!(" {}", one_line(tool))).unwrap_or_default();
    let reason = event.reason.as_deref().map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
    lines.push(format!(
        "{}{tool} {}{reason}, {} in all, {}",
        one_line(&event.event),
        outcome(&event.outcome),
        took(event.duration_us),
        safe(&event.time)
    ));
    if event.handlers.is_empty() {
        lines.push(no_handler(&event.invocation_id));
        return;
    }
    let names: Vec<String> = event.handlers.iter().map(|lane| one_line(&lane.id)).collect();
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let total = event.end_us();
    let end = took(total);
    // Name, a space, two edges.
    let columns = width.saturating_sub(name_width + 3).max(BAR_LEAST);
    lines.push(format!("{:name_width$} 0{end:>columns$}", ""));
    for (lane, name) in event.handlers.iter().zip(names) {
        lines.push(format!("{name:name_width$} |{}|", bar(lane, total, columns)));
        lines.push(format!("    {}", words(lane)));
    }
    lines.push(String::new());
    lines.push(Kind::ALL.map(|kind| format!("{} {}", letter(kind), kind.word())).join("   "));
}

/// A handler's run; every phase has a column at least.
fn bar(lane: &Lane, total: u64, columns: usize) -> String {
    let at = |micros: u64| {
        let column = u128::from(micros) * columns as u128 / u128::from(total.max(1));
        usize::try_from(column).unwrap_or(columns).min(columns)
    };
    let mut cells = vec![' '; columns];
    let mut drawn = 0;
    for phase in &lane.phases {
        // A short phase moves the next one by its column, and does not vanish below it.
        let from = at(phase.from_us).max(drawn).min(columns.saturating_sub(1));
        let to = at(phase.to_us).max(from + 1);
        drawn = to;
        cells.iter_mut().take(to).skip(from).for_each(|cell| *cell = letter(phase.kind));
    }
    cells.into_iter().collect()
}

fn words(lane: &Lane) -> String {
    let of = |kind: Kind| lane.took(kind);
    let mut parts = vec![lane.ended()];
    if of(Kind::Queue) > 0 {
        parts.push(format!("waited {}", took(of(Kind::Queue))));
    }
    if of(Kind::Spawn) + of(Kind::Run) + of(Kind::Drain) == 0 {
        parts.push("did not run".to_owned());
        return parts.join(", ");
    }
    parts.push(if lane.warm { "warm".to_owned() } else { format!("started {}", took(of(Kind::Spawn))) });
    parts.push(format!("ran {}", took(of(Kind::Run))));
    if of(Kind::Drain) >= DRAIN_TOLD {
        parts.push(format!("output open {}", took(of(Kind::Drain))));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::see::waterfall::Phase;
    use hooksd_protocol::methods::HandlerStatus;

    fn lane(phases: &[(Kind, u64, u64)]) -> Lane {
        let phases = phases.iter().map(|&(kind, from_us, to_us)| Phase { kind, from_us, to_us }).collect();
        let status = HandlerStatus::Ok;
        Lane { id: "x".to_owned(), status, exit_code: Some(0), signal: None, warm: false, phases }
    }

    #[test]
    fn bars_are_to_scale_and_show_every_phase() {
        let whole = lane(&[
            (Kind::Queue, 10, 30),
            (Kind::Spawn, 30, 40),
            (Kind::Run, 40, 90),
            (Kind::Drain, 90, 100),
        ]);
        assert_eq!(bar(&whole, 100, 10), " ..+#####~");
        assert_eq!(
            bar(&lane(&[(Kind::Run, 0, 1), (Kind::Drain, 1_000_000, 1_000_000)]), 1_000_000, 5),
            "#   ~"
        );
        assert_eq!(bar(&lane(&[(Kind::Run, 5, u64::MAX)]), 10, 4), "  ##");
        let short = lane(&[(Kind::Queue, 1, 2), (Kind::Spawn, 2, 3), (Kind::Run, 3, 500)]);
        assert_eq!(bar(&short, 1000, 10), ".+###     ");
    }
}

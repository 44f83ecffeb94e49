//! The page around the pictures.

use super::charts;
use super::figures::{COLOURS, Figures, HandlerCost};
use super::svg::{escape, short, time};

/// How it looks, in light and in dark.
const STYLE: &str = include_str!("page.css");

/// The longest reason in a heading. Characters.
const REASON: usize = 200;

/// The longest command in the table. Characters.
const COMMAND: usize = 120;

/// The whole page.
pub(super) fn page(figures: &Figures) -> String {
    let body = match figures.events {
        0 => "<section><h2>Nothing to show</h2><p>The journal has no events of this time. Events are kept from the \
              moment a daemon runs with its journal on.</p></section>\n"
            .to_owned(),
        _ => {
            [tiles(figures), costs(figures), slowest(figures), tools(figures), failures(figures)].concat()
        }
    };
    // The policy is a second lock: nothing is loaded, and nothing runs, whatever the page says.
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>hooksd: what ran</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>What hooks did</h1>\n<p>{}</p>\n{body}</main>\n</body>\n</html>\n",
        span(figures)
    )
}

fn span(figures: &Figures) -> String {
    let (Some(first), Some(last)) = (&figures.first, &figures.last) else {
        return "hooksd's journal".to_owned();
    };
    let minute = |at: &str| escape(&at.get(..16).unwrap_or(at).replace('T', " "));
    let cut = if figures.cut { "; older events are left out" } else { "" };
    format!("hooksd's journal from {} to {} (UTC){cut}", minute(first), minute(last))
}

fn tiles(figures: &Figures) -> String {
    let tile = |value: &str, name: &str| {
        format!("<div class=\"tile\"><b>{}</b><span>{}</span></div>", escape(value), escape(name))
    };
    let tiles = [
        tile(&figures.events.to_string(), "events"),
        tile(&figures.runs.to_string(), "handler runs"),
        tile(&figures.denied.to_string(), "denied"),
        tile(&figures.failed.to_string(), "failed runs"),
        tile(&time(figures.median_us), "median answer"),
        tile(&time(figures.p95_us), "95% within"),
    ];
    format!("<div class=\"tiles\">{}</div>\n", tiles.concat())
}

fn section(id: &str, title: &str, text: &str, body: &str) -> String {
    format!("<section id=\"{id}\"><h2>{title}</h2>\n<p>{text}</p>\n{body}</section>\n")
}

fn costs(figures: &Figures) -> String {
    const TITLE: &str = "What handlers cost";
    if figures.handlers.is_empty() {
        return section("cost", TITLE, "No handler ran in this time.", "");
    }
    let rows: Vec<String> = figures.handlers.iter().enumerate().map(|(at, cost)| row(at, cost)).collect();
    let more = match figures.handlers_left_out {
        0 => String::new(),
        left_out => format!("<p>{left_out} handlers that cost less are not listed.</p>"),
    };
    let table = format!(
        "<div class=\"scroll\"><table><thead><tr><th>Handler</th><th>Runs</th><th>Total</th><th>Median</th>\
         <th>95%</th><th>Longest</th><th>Blocked</th><th>Failed</th></tr></thead><tbody>\n{}</tbody></table></div>{more}",
        rows.concat()
    );
    section(
        "cost",
        TITLE,
        "Time from spawn to end, all runs of a stretch of time together.",
        &(charts::over_time(figures) + &table),
    )
}

fn row(at: usize, cost: &HandlerCost) -> String {
    let numbers = [
        cost.runs.to_string(),
        time(cost.total_us),
        time(cost.median_us),
        time(cost.p95_us),
        time(cost.max_us),
        cost.blocked.to_string(),
        cost.failed.to_string(),
    ];
    let numbers: String = numbers.iter().map(|number| format!("<td>{number}</td>")).collect();
    format!(
        "<tr><td><svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"c{}\" width=\"10\" height=\"10\"/></svg> {} \
         <small><code>{}</code></small><small>{}</small></td>{numbers}</tr>\n",
        at.min(COLOURS),
        escape(&cost.id),
        short(&cost.command, COMMAND),
        escape(&cost.source)
    )
}

fn slowest(figures: &Figures) -> String {
    const TITLE: &str = "The slowest events";
    if figures.slowest.is_empty() {
        return section("slow", TITLE, "No event had handlers.", "");
    }
    let events: Vec<String> = figures
        .slowest
        .iter()
        .map(|event| {
            let tool = event.tool.as_deref().map(|tool| format!(" {}", short(tool, 60))).unwrap_or_default();
            let reason = event.reason.as_deref().map(|reason| format!(": {}", short(reason, REASON)));
            format!(
                "<h3>{} &middot; {}{tool} &middot; {}{} <code>{}</code></h3>\n{}",
                time(event.duration_us),
                escape(&event.event),
                escape(&event.outcome),
                reason.unwrap_or_default(),
                escape(event.invocation_id.get(..8).unwrap_or(&event.invocation_id)),
                charts::waterfall(event)
            )
        })
        .collect();
    let text = "At most two of one event and tool, from the event's arrival on; <code>hooksctl timeline ID</code> and <code>hooksctl log show ID</code> say more.";
    section("slow", TITLE, text, &(charts::phases() + &events.concat()))
}

fn tools(figures: &Figures) -> String {
    section("tools", "Decisions by tool", "Events, by how they were decided.", &charts::tools(&figures.tools))
}

fn failures(figures: &Figures) -> String {
    let mut body = match figures.failures.as_slice() {
        [] => "<p>No handler failed.</p>".to_owned(),
        failures => charts::counts("How handlers failed", "bad", failures),
    };
    if !figures.diagnostics.is_empty() {
        body += "<h3>Remarks on configuration and answers</h3>\n";
        body += &charts::counts("Diagnostics by code", "warn", &figures.diagnostics);
    }
    section("failures", "Failures by kind", "Runs that did not do what they should.", &body)
}

//! Every section of the contract, decision and case that is cited has a heading, and every test that a page names
//! exists.

use std::collections::BTreeSet;
use std::fs;

use crate::{files, text, top};

/// A name that was cited before the contract was part of the repository; nothing of that name is here.
const GONE: &str = concat!("BEHAV", "IOUR");

/// Pages and files outside of folders of their own that cite numbers.
const SINGLE: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "clippy.toml",
    "tests/cases/README.md",
];

/// A file: its path and its content.
type File = (String, String);

/// What may be cited.
struct Known {
    sections: BTreeSet<u32>,
    decisions: BTreeSet<u32>,
    cases: BTreeSet<u32>,
}

impl Known {
    fn of(contract: &str, decisions: &str, cases: &str) -> Known {
        Known {
            sections: headings(contract).filter_map(|title| title.split_once(". ")?.0.parse().ok()).collect(),
            decisions: headings(decisions)
                .filter_map(|title| number(title.split_once(": ")?.0, 'D'))
                .collect(),
            cases: headings(cases).filter_map(|title| number(title.split_once(": ")?.0, 'B')).collect(),
        }
    }
}

/// The titles of a page.
fn headings(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter(|line| line.starts_with("##")).map(|line| line.trim_start_matches('#').trim_start())
}

/// The number of a word that is one letter and one or two digits: `D7`, `B06`. `D0` is none.
fn number(word: &str, letter: char) -> Option<u32> {
    let digits = word.strip_prefix(letter)?;
    let is_number = matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_number && *number > 0)
}

/// The words of a text (letters, digits and underscores), each with what stands before it.
fn words(content: &str) -> Vec<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = content;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        found.push((before, word));
        rest = after;
    }
    found
}

/// Whether nothing but white space and the marks of comments stands between two words.
fn is_gap(between: &str) -> bool {
    between.chars().all(|c| c.is_whitespace() || matches!(c, '/' | '!' | '*' | '`'))
}

/// The numbers of a citation like "section 10" or "sections 6, 8 and 9", from the word after "section".
fn sections(words: &[(&str, &str)]) -> Vec<u32> {
    let mut found = Vec::new();
    for (before, word) in words {
        let goes_on = is_gap(before) || (before.starts_with(',') && is_gap(&before[1..]));
        match word.parse() {
            Ok(section) if goes_on => found.push(section),
            _ if goes_on && matches!(*word, "and" | "to" | "or") => {}
            _ => break,
        }
    }
    found
}

/// Everything that is cited in these files and is not known.
fn dangling(files: &[File], known: &Known) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, content) in files {
        // Schemas spell the end of a comment's line as an escape.
        let content = content.replace("\\n", " ");
        let words = words(&content);
        let mut fault = |what: String| faults.push(format!("{path} cites {what}, which does not exist"));
        for (index, (before, word)) in words.iter().enumerate() {
            let last = index.checked_sub(1).map_or("", |last| words[last].1);
            if *word == GONE {
                fault(GONE.to_owned());
            }
            let is_section = matches!(*word, "section" | "sections") && is_gap(before);
            if is_section && last.eq_ignore_ascii_case("contract") {
                let cited = sections(&words[index + 1..]);
                if cited.is_empty() {
                    fault("a section of the contract without its number".to_owned());
                }
                for section in cited.into_iter().filter(|section| !known.sections.contains(section)) {
                    fault(format!("contract section {section}"));
                }
            }
            // `\u{D7}` is a character.
            let is_character = last == "u" && *before == "{";
            if !is_character {
                cite(word, ('D', 'B'), known, &mut fault);
            }
            let is_test = last == "fn";
            if is_test && word.contains('_') {
                let parts =
                    word.split('_').take_while(|part| number(part, 'd').or(number(part, 'b')).is_some());
                parts.for_each(|part| cite(part, ('d', 'b'), known, &mut fault));
            }
        }
    }
    faults
}

/// Looks one number up. The letters are those of a decision and of a case.
fn cite(word: &str, letters: (char, char), known: &Known, fault: &mut impl FnMut(String)) {
    if let Some(decision) = number(word, letters.0).filter(|decision| !known.decisions.contains(decision)) {
        fault(format!("D{decision}"));
    }
    if let Some(case) = number(word, letters.1).filter(|case| !known.cases.contains(case)) {
        fault(format!("B{case:02}"));
    }
}

/// What is wrong with the tests that a page names: one that does not exist, an entry that names none. Entries begin
/// with a letter and a number. `ends`: where those that need no test begin.
fn untested(page: &str, letter: char, ends: &str, sources: &str) -> Vec<String> {
    let page = page.split(ends).next().unwrap_or_default();
    let mut faults = Vec::new();
    for entry in page.split("\n## ").flat_map(|part| part.split("\n### ")) {
        let title = entry.lines().next().unwrap_or_default();
        if title.split_once(": ").and_then(|(name, _)| number(name, letter)).is_none() {
            continue;
        }
        let Some((_, tests)) = entry.split_once("\nTests: ") else {
            faults.push(format!("{title} does not say which tests hold it"));
            continue;
        };
        let tests = tests.split("\n\n").next().unwrap_or_default();
        let is_name =
            |name: &&str| name.contains('_') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).filter(is_name).collect();
        if names.is_empty() && !tests.starts_with("none") {
            faults.push(format!("{title} names no test"));
        }
        for name in names {
            let is_there =
                sources.contains(&format!("fn {name}(")) || sources.contains(&format!("fn {name}<"));
            if !is_there {
                faults.push(format!("{title} names {name}, which does not exist"));
            }
        }
    }
    faults
}

/// Where the page of the contract begins to say which test holds what.
const HELD: &str = "\n## Which test holds each statement\n";

/// What is wrong with what the page of the contract says of its tests: a section that is left out, a statement that
/// names nothing, a test or vector that does not exist. A name with a slash is the beginning of a vector's id.
fn unheld(page: &str, sources: &str, vectors: &str) -> Vec<String> {
    let Some((contract, held)) = page.split_once(HELD) else {
        return vec!["the contract does not say which tests hold it".to_owned()];
    };
    let mut faults = Vec::new();
    // The first section is about words, and states nothing.
    for title in headings(contract).filter(|title| title.contains(". ") && !title.starts_with("1. ")) {
        if !held.contains(&format!("\n### Section {title}\n")) {
            faults.push(format!("section {title} is left out"));
        }
    }
    let rows = held.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    for (statement, by) in rows.filter_map(|row| row.rsplit_once(" | ")) {
        if matches!(statement, "statement" | "---") {
            continue;
        }
        let names: Vec<&str> = by.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            faults.push(format!("{statement:?} names nothing that holds it"));
        }
        for name in names {
            let is_there = match name.contains('/') {
                true => vectors.contains(&format!("\"id\":\"{name}")),
                false => sources.contains(&format!("fn {name}(")) || sources.contains(&format!("fn {name}<")),
            };
            if !is_there {
                faults.push(format!("{statement:?} names {name}, which does not exist"));
            }
        }
    }
    faults
}

/// The text of all files of these folders whose names end so.
fn all_text(folders: &[&str], ending: &str) -> String {
    let paths = folders.iter().flat_map(|folder| files(folder, ending));
    paths.map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Every file that may cite something.
fn citing() -> Vec<File> {
    let folders =
        [("crates", ".rs"), ("tests", ".rs"), ("docs", ".md"), ("docs/schema", ".json"), ("fuzz", ".rs")];
    let found = folders.into_iter().flat_map(|(folder, ending)| files(folder, ending));
    let single = SINGLE.into_iter().map(|path| top().join(path));
    // What this file plants is not there to be found.
    let own = top().join("tests/tidy/references.rs");
    let all = found.chain(single).filter(|path| *path != own);
    all.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_reference_resolves() {
    let pages = ["contract", "decisions", "cases"].map(|page| text(&format!("docs/{page}.md")));
    let known = Known::of(&pages[0], &pages[1], &pages[2]);
    assert!(known.sections.len() >= 12 && known.decisions.len() >= 38 && known.cases.len() >= 50);
    let faults = dangling(&citing(), &known);
    assert!(faults.is_empty(), "{} references lead nowhere:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_decision_and_case_names_tests_that_exist() {
    let sources = all_text(&["crates", "tests"], ".rs");
    let mut faults = untested(&text("docs/decisions.md"), 'D', "\n## Decided, not yet in force", &sources);
    faults.extend(untested(&text("docs/cases.md"), 'B', "\u{0}", &sources));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_statement_of_the_contract_names_tests_that_exist() {
    let page = text("docs/contract.md");
    let statements = page.split(HELD).nth(1).unwrap_or_default().lines().filter(|line| line.contains("` |"));
    assert!(statements.count() >= 60);
    let sources = all_text(&["crates", "tests"], ".rs");
    let faults = unheld(&page, &sources, &all_text(&["tests/conformance"], ".jsonl"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_dangling_reference_is_found() {
    let known = Known::of(
        "# C\n## 1. Words\n## 2. Events\n## 10. Trust\n",
        "# D\n## D7: Matchers\n## Later\n### D25: Sessions\n",
        "# B\n## Kind\n### B06: A child\n",
    );
    let faults = |content: &str| {
        let file = ("x.rs".to_owned(), content.to_owned());
        dangling(&[file], &known)
            .into_iter()
            .map(|fault| fault.split(' ').skip(2).collect::<Vec<_>>().join(" "))
            .map(|fault| fault.split(',').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    for fine in [
        "contract section 10, D7, B06",
        "(contract\n/// section 2, D25)",
        "contract sections 1, 2 and 10 say so; 99 is another number",
        "a contract; section 99 of something else",
        "fn d7_is_held() {} fn b06_d25_too() {} let d99_x = 1;",
        "0xD9 D9x XD9 D100 D0 \\u{D9} \\u{B9} b64",
        "decided (contract\\nsection 2)",
    ] {
        assert_eq!(faults(fine), none, "{fine}");
    }
    for (content, expected) in [
        ("/// See contract section 3.", "contract section 3"),
        ("contract sections 1 and 4", "contract section 4"),
        ("Contract\n    //! section 13", "contract section 13"),
        ("contract section A", "a section of the contract without its number"),
        ("(D8)", "D8"),
        ("`D38`", "D38"),
        ("B06 to B08", "B08"),
        ("fn d9_something() {}", "D9"),
        ("fn d7_b99_something() {}", "B99"),
        (concat!("BEHAV", "IOUR section 1"), GONE),
    ] {
        assert_eq!(faults(content), [expected], "{content}");
    }
}

#[test]
fn a_missing_test_is_found() {
    let page = "# D\n\n## D1: One\n\nTests: `one_holds`.\n\n## D2: Two\n\nTests: `two_holds`,\n`key`.\n\n## D3: Three\n\n\
                ## D4: Four\n\nTests: none.\n\n## D5: Five\n\nTests: some.\n\n## Later\n\n### D6: Six\n";
    let expected = [
        "D2: Two names two_holds, which does not exist",
        "D3: Three does not say which tests hold it",
        "D5: Five names no test",
    ];
    assert_eq!(untested(page, 'D', "\n## Later", "fn one_holds() {}"), expected);
}

#[test]
fn a_statement_that_nothing_holds_is_found() {
    let table = "| statement | held by |\n| --- | --- |\n";
    let page = format!(
        "# C\n\n## 1. Words\n\n## 2. Events\n\n## 3. Payload\n{HELD}\n### Section 2. Events\n\n{table}\
         | One | `one_holds`, `a/b` |\n| Two | `two_holds` |\n| Three `x` | `a/c` |\n| Four | nothing |\n"
    );
    let expected = [
        "section 3. Payload is left out",
        "\"Two\" names two_holds, which does not exist",
        "\"Three `x`\" names a/c, which does not exist",
        "\"Four\" names nothing that holds it",
    ];
    assert_eq!(unheld(&page, "fn one_holds() {}", "{\"id\":\"a/bc\"}"), expected);
    assert_eq!(unheld("# C", "", "").len(), 1);
}

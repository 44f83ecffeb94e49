//! Which file of a crate imports which, and what is wrong with it.
//!
//! A module and the files below it are one room: what it imports from them, and they from it, is its own affair. Of any
//! two rooms side by side, only one may import the other, however long the way round is.

use std::collections::{BTreeMap, BTreeSet};

use super::code::tokens;

/// The path of a module: the names of the modules that it is in, and its own.
type Module = Vec<String>;

/// A source file: its path below `src`, and its text.
pub(super) type File<'a> = (&'a str, &'a str);

/// Which module imports which.
pub(super) type Imports = BTreeSet<(Module, Module)>;

/// The crates of this workspace that the code of a file names, as they are called there.
pub(super) fn crates(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let named = tokens.iter().zip(tokens.iter().skip(1)).filter(|(_, next)| *next == "::" || *next == "as");
    named
        .map(|(word, _)| word)
        .filter(|word| *word == "hooksd" || word.starts_with("hooksd_"))
        .cloned()
        .collect()
}

/// All imports between the files of a crate, from file to file.
pub(super) fn imports(files: &[File<'_>]) -> Imports {
    let code: BTreeMap<Module, Vec<String>> = files
        .iter()
        .filter(|(name, _)| !is_test(name))
        .map(|(name, text)| (module(name), tokens(text)))
        .collect();
    let names: BTreeMap<&Module, BTreeMap<String, Module>> =
        code.iter().map(|(module, tokens)| (module, reexports(module, tokens, &code))).collect();
    let mut imports = Imports::new();
    for (module, tokens) in &code {
        for path in paths(module, tokens) {
            let target = resolve(&path, &names, 0);
            if target != *module {
                imports.insert((module.clone(), target));
            }
        }
    }
    imports
}

fn is_test(name: &str) -> bool {
    name.ends_with("_tests.rs") || name.ends_with("/tests.rs") || name == "tests.rs"
}

fn module(file: &str) -> Module {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// The names that a module takes from modules below it, each with where it stands: whoever imports the name from the
/// module imports that.
fn reexports(
    module: &Module,
    tokens: &[String],
    code: &BTreeMap<Module, Vec<String>>,
) -> BTreeMap<String, Module> {
    let mut names = BTreeMap::new();
    for (index, token) in tokens.iter().enumerate() {
        let first = usize::from(tokens.get(index + 1).is_some_and(|next| next == "self")) * 2;
        let Some(child) = tokens.get(index + 1 + first).filter(|_| token == "use") else { continue };
        let below: Module = module.iter().chain([child]).cloned().collect();
        if !code.contains_key(&below) {
            continue;
        }
        for (name, path) in tree(tokens, index + 1 + first, module.clone()) {
            names.insert(name, path);
        }
    }
    names
}

/// Every path that the code names from the crate's top or from a module above.
fn paths(module: &Module, tokens: &[String]) -> Vec<Module> {
    let mut found = Vec::new();
    // The blocks around the code, and whether each is a module of its own.
    let mut blocks: Vec<bool> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = |distance: usize| index.checked_sub(distance).and_then(|index| tokens.get(index));
        match token.as_str() {
            "{" => blocks.push(before(2).is_some_and(|word| word == "mod")),
            "}" => drop(blocks.pop()),
            "crate" | "super" | "self" if before(1).is_none_or(|token| token != "::") => {
                let mut from = module.clone();
                let inner = blocks.iter().filter(|is_module| **is_module).count();
                from.extend(std::iter::repeat_n(String::new(), inner));
                found.extend(tree(tokens, index, from).into_iter().map(|(_, path)| path));
            }
            _ => {}
        }
    }
    found
}

/// The paths of a tree of imports, or of a plain path, that begins here; each with the name that it gets.
fn tree(tokens: &[String], mut index: usize, mut from: Module) -> Vec<(String, Module)> {
    let text = |index: usize| tokens.get(index).map_or("", String::as_str);
    loop {
        match text(index) {
            "crate" => from.clear(),
            "super" => drop(from.pop()),
            "self" => {}
            "{" => return branches(tokens, index, &from),
            word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => from.push(word.to_owned()),
            _ => break,
        }
        if text(index + 1) != "::" {
            break;
        }
        index += 2;
    }
    let alias = if text(index + 1) == "as" { Some(text(index + 2).to_owned()) } else { None };
    let name = alias.or_else(|| from.last().cloned()).unwrap_or_default();
    vec![(name, from)]
}

fn branches(tokens: &[String], open: usize, from: &Module) -> Vec<(String, Module)> {
    let mut found = Vec::new();
    let (mut depth, mut begins) = (0, true);
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => begins = true,
            _ if depth == 1 && begins => {
                found.extend(tree(tokens, index, from.clone()));
                begins = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// The file that a path leads to.
fn resolve(path: &[String], names: &BTreeMap<&Module, BTreeMap<String, Module>>, depth: usize) -> Module {
    /// How often a name may be handed on. Names of names of names are a mistake of somebody else's.
    const MOST: usize = 8;
    let known = |length: &usize| names.contains_key(&path[..*length].to_vec());
    let length = (0..=path.len()).rev().find(known).unwrap_or(0);
    let file = path[..length].to_vec();
    let next = path.get(length).and_then(|name| names.get(&file)?.get(name));
    match next {
        Some(target) if depth < MOST && *target != *path => resolve(target, names, depth + 1),
        _ => file,
    }
}

/// The imports between rooms side by side: the room they are in, the one that imports, and the one that it imports.
fn between_rooms(imports: &Imports) -> BTreeMap<Module, BTreeSet<(String, String)>> {
    let mut rooms: BTreeMap<Module, BTreeSet<(String, String)>> = BTreeMap::new();
    for (from, to) in imports {
        let common = from.iter().zip(to).take_while(|(one, other)| one == other).count();
        if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
            rooms.entry(from[..common].to_vec()).or_default().insert((one.clone(), other.clone()));
        }
    }
    rooms
}

/// The circles: of each room that has one, the shortest way from a room inside it back to itself.
pub(super) fn circles(imports: &Imports) -> Vec<String> {
    let mut found = Vec::new();
    for (room, edges) in between_rooms(imports) {
        let starts: BTreeSet<&String> = edges.iter().map(|(from, _)| from).collect();
        let shortest = starts.into_iter().filter_map(|start| way_back(start, &edges)).min_by_key(Vec::len);
        if let Some(way) = shortest {
            let at = |name: &String| room.iter().chain([name]).cloned().collect::<Vec<_>>().join("/");
            found.push(way.iter().map(at).collect::<Vec<_>>().join(" -> "));
        }
    }
    found
}

fn way_back(start: &String, edges: &BTreeSet<(String, String)>) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for (_, to) in edges.iter().filter(|(from, _)| Some(from) == way.last()) {
                let on = way.iter().chain([to]).cloned().collect();
                if to == start {
                    return Some(on);
                }
                if seen.insert(to.clone()) {
                    longer.push(on);
                }
            }
        }
        ways = longer;
    }
    None
}

/// The imports that do not go down: `rooms` are those at the top of a crate, the highest first.
pub(super) fn upward(imports: &Imports, rooms: &[&str]) -> Vec<String> {
    let height = |name: &String| rooms.iter().position(|room| room == name);
    let goes_down = |from, to| height(from).zip(height(to)).is_some_and(|(from, to)| from < to);
    let told = imports.iter().filter(|(from, to)| {
        let ends = from.first().zip(to.first()).filter(|(from, to)| from != to);
        ends.is_some_and(|(from, to)| !goes_down(from, to))
    });
    told.map(|(from, to)| format!("{} imports {}", from.join("/"), to.join("/"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(files: &[File<'_>]) -> Vec<String> {
        imports(files).into_iter().map(|(from, to)| format!("{}>{}", from.join("/"), to.join("/"))).collect()
    }

    #[test]
    fn every_way_to_name_a_file_is_an_import() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::deep::Thing; pub use b::{self as bee, Other};"),
            ("a.rs", "use crate::{b::{self, inner::X}, Thing}; fn f() { crate::c::g::<u8>() }"),
            ("b/mod.rs", "pub mod inner; pub mod deep; pub use self::inner::X as Y;"),
            ("b/inner.rs", "mod own { use super::super::deep; use super::nothing; }"),
            ("b/deep.rs", "use super::Y; use super::super::c;"),
            ("c.rs", "#[cfg(test)] mod tests { use crate::a; } // crate::a"),
            ("c_tests.rs", "use crate::a;"),
        ];
        assert_eq!(
            pairs(&files),
            [
                "a>b",
                "a>b/deep",
                "a>b/inner",
                "a>c",
                "b>b/inner",
                "b/deep>b/inner",
                "b/deep>c",
                "b/inner>b/deep"
            ]
        );
    }

    #[test]
    fn a_circle_is_found_however_long_it_is_and_a_room_is_no_circle() {
        let mut files = vec![
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a/mod.rs", "pub use one::One; use crate::b::B;"),
            ("a/one.rs", "use super::two::Two;"),
            ("a/two.rs", "use super::Shared;"),
            ("b.rs", "use crate::c;"),
            ("c.rs", ""),
        ];
        assert_eq!(circles(&imports(&files)), [""; 0]);
        files.push(("c/below.rs", "use crate::a::one::One;"));
        assert_eq!(circles(&imports(&files)), ["a -> b -> c -> a"]);
        files.pop();
        files.push(("a/two/deep.rs", "use crate::a::One;"));
        assert_eq!(circles(&imports(&files)), ["a/one -> a/two -> a/one"]);
    }

    #[test]
    fn an_import_upward_or_of_an_unknown_room_is_found() {
        let mut files = vec![
            ("lib.rs", "pub mod base; pub mod top; pub use base::gate::Gate;"),
            ("top/mod.rs", "use crate::base::gate; use crate::Gate;"),
            ("base/mod.rs", "use crate::Gate;"),
            ("base/gate.rs", ""),
        ];
        assert_eq!(upward(&imports(&files), &["top", "base"]), [""; 0]);
        files.push(("base/work.rs", "fn f() { crate::top::run() }"));
        assert_eq!(upward(&imports(&files), &["top", "base"]), ["base/work imports top"]);
        files.pop();
        files.push(("attic.rs", "use crate::base;"));
        assert_eq!(upward(&imports(&files), &["top", "base"]), ["attic imports base"]);
    }

    #[test]
    fn a_crate_is_named_by_what_is_compiled() {
        let text = "use hooksd_json::{Value}; // hooksd_engine::x\nfn f() { hooksd_config::g() } #[cfg(test)] use hooksd::x;";
        assert_eq!(crates(text).into_iter().collect::<Vec<_>>(), ["hooksd_config", "hooksd_json"]);
    }
}

//! Every construct and every refusal, as CPython 3.13 answers them.

use super::*;

/// Expression, subjects it matches, subjects it does not match.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("u\u{308}", &["u\u{308}", "Mu\u{308}ller"], &["u"]),
    ("\u{915}\u{93e}", &["\u{915}\u{93e}", "x\u{915}\u{93e}y"], &[]),
    ("a\u{203f}b", &["a\u{203f}b", "xa\u{203f}by"], &[]),
    ("\u{1f600}", &["\u{1f600}", "x\u{1f600}y"], &[]),
    ("\u{24b6}", &["\u{24b6}", "x\u{24b6}y"], &["\u{24d0}"]),
    ("a\u{ad}b", &["a\u{ad}b", "xa\u{ad}by"], &[]),
    ("a\u{2011}b", &["a\u{2011}b", "xa\u{2011}by"], &[]),
    ("a\u{ff5c}b", &["a\u{ff5c}b", "xa\u{ff5c}by"], &["a", "b"]),
    ("Bash\u{2060}", &["Bash\u{2060}", "xBash\u{2060}y"], &["Bash"]),
    ("Bash\u{0}", &["Bash\u{0}", "xBash\u{0}y"], &["Bash"]),
    ("Bash\u{1b}", &["Bash\u{1b}", "xBash\u{1b}y"], &["Bash"]),
    ("^Bash$", &["Bash", "Bash\n"], &["Write", "BashOutput", "bash", "mcp__github__create_issue", "\nBash"]),
    ("Bash.*", &["Bash", "BashOutput", "xBash"], &["Write", "bash", "mcp__github__create_issue"]),
    ("a.b", &["a.b", "axb", "xaxbx"], &["a\nb", "ab"]),
    (".*", &["Bash", "", "\n"], &[]),
    (".+", &["Bash"], &["", "\n"]),
    ("^(Bash|Write)$", &["Bash", "Write"], &["BashOutput", "bash", "mcp__github__create_issue"]),
    ("^Bash|Write$", &["Bash", "BashOutput", "FileWrite"], &["Writer"]),
    ("mcp__github__.*", &["mcp__github__x", "xmcp__github__"], &["mcp__gitlab__x"]),
    ("^mcp__.+__.+$", &["mcp__a__b"], &["mcp__a_b", "mcp____", "mcp__a__"]),
    ("mcp__.*__write.*", &["mcp__fs__write_file"], &["mcp__fs__read"]),
    ("a/b", &["a/b", "xa/by"], &[]),
    ("plugin:agent", &["plugin:agent", "my-plugin:agent2"], &[]),
    ("a@b", &["a@b", "xa@b"], &[]),
    ("^[A-C]", &["Bash"], &["Write"]),
    ("^[^B]", &["Write", "\n"], &["Bash", ""]),
    ("[[a]", &["[", "a"], &["]"]),
    ("[[:alpha:]]", &[":]", "a]"], &["b", "a"]),
    ("[a&&b]", &["a", "&", "b"], &["c"]),
    ("[a~~b]", &["a", "~", "b"], &[]),
    ("^(?!Bash).*$", &["Write", ""], &["Bash", "BashOutput"]),
    ("Bash(?=Output)", &["BashOutput"], &["Bash"]),
    ("(?<=__)write$", &["mcp__fs__write"], &["write", "_write"]),
    ("(?<=ab|cd)e", &["abe", "cde"], &["xxe"]),
    ("^(?P<q>['\"]).*(?P=q)$", &["'a'", "\"a\""], &["'a\""]),
    ("^(?P<o><)?a(?(o)>)$", &["a", "<a>"], &["<a"]),
    ("^(?>a+)ab$", &[], &["aab", "ab"]),
    ("^a++ab$", &[], &["aab", "ab"]),
    ("^<.+?>$", &["<a>", "<a><b>"], &["<>"]),
    ("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]),
    ("^a{,2}$", &["", "a", "aa"], &["aaa", "a{,2}"]),
    ("^a{1, 2}$", &["a{1, 2}"], &["a"]),
    ("a{}", &["a{}"], &["a"]),
    ("^a{,}$", &["", "a", "aaa"], &["a{,}"]),
    ("^a{0}$", &[""], &["a"]),
    ("a{4294967294}", &[], &["a"]),
    ("a{65536}", &[], &["a"]),
    ("^(?i:b)ash$", &["Bash", "bash"], &["bASH"]),
    ("(?s)^a.b$", &["a\nb", "axb"], &[]),
    ("(?x)^ b a s h $ # c", &["bash"], &["b a s h"]),
    (r"(?a)^\w+$", &["abc"], &["\u{fc}", "\u{663}"]),
    (r"(?u)^\w+$", &["abc", "\u{fc}"], &[]),
    ("(?i)^k$", &["k", "K", "\u{212a}"], &[]),
    ("(?i)^s$", &["s", "S", "\u{17f}"], &[]),
    ("(?i)^\u{df}$", &["\u{df}", "\u{1e9e}"], &["ss", "SS"]),
    ("(?i)^i$", &["i", "I", "\u{130}", "\u{131}"], &[]),
    ("(?i)^\u{b5}$", &["\u{b5}", "\u{3bc}", "\u{39c}"], &[]),
    ("(?i)^[a-z]$", &["K", "\u{212a}", "\u{17f}", "\u{130}"], &[]),
    ("(?i)^\u{fb05}$", &["\u{fb05}", "\u{fb06}"], &[]),
    (r"^\D$", &["x", "\u{b2}"], &["1", "\u{663}"]),
    (r"^\w$", &["a", "_", "\u{fc}", "\u{b2}", "\u{2167}", "\u{aa}", "\u{e33}"], &["\u{308}", "\u{203f}", "\u{24b6}", "\u{200d}", "-", "\u{e31}"]),
    (r"^\W$", &["-", "\u{308}", "\u{203f}", "\u{24b6}"], &["a"]),
    (r"^\s$", &[" ", "\t", "\u{1c}", "\u{85}", "\u{a0}", "\u{3000}"], &["\u{200b}", "\u{180e}", "\u{feff}"]),
    (r"\bwrite\b", &["write", "re write it", "write\u{308}"], &["write_file", "\u{fc}write", "mcp__fs__write"]),
    (r"\Bx", &["ax"], &["x", "-x"]),
    (r"\Aa\Z", &["a"], &["a\n", "ba"]),
    (r"a\.b\-c\_d\/e", &["a.b-c_d/e"], &["axb-c_d/e"]),
    (r"^a\nb$", &["a\nb"], &["anb"]),
    (r"^\x41$", &["A"], &["x41"]),
    (r"^\u00fc$", &["\u{fc}"], &[]),
    (r"^\U0001F600$", &["\u{1f600}"], &[]),
    ("^a(?#note)b$", &["ab"], &[]),
    ("^()a$", &["a"], &[]),
    ("(?P<\u{fc}>x)", &["x"], &[]),
    ("a]", &["a]"], &["a"]),
    ("a}", &["a}"], &["a"]),
    ("a^b", &[], &["ab", "a^b"]),
    ("a$b", &[], &["ab", "a$b", "a\nb"]),
    ("a+", &["aaa"], &["b"]),
    ("^$|x.", &["", "xy"], &["a"]),
    ("Bash,Write.*", &["Bash,Write"], &["Bash", "Write"]),
    ("^.$", &["\r", "\u{85}", "\u{2028}", "x"], &["\n"]),
    ("^.$", &["\u{1f600}"], &["\u{1f600}\u{200d}"]),
    ("^(?P<a>x)?y(?(a)z|w)$", &["xyz", "yw"], &["xyw", "yz", "y"]),
    ("^(a)?b(?(1)c)$", &["abc", "b"], &["bc", "ab"]),
    (r"^(?:(a)|b)*\1$", &["aba", "abaa"], &["ba", "b", ""]),
    (r"^(a)?\1$", &["aa"], &["", "a"]),
    (r"^(?:(a)|b\1)+$", &["aba"], &["ab", "b"]),
    (r"(?i)^(k)\1$", &["kK", "k\u{212a}"], &["ks"]),
    (r"(?i)^(i)\1$", &["iI", "\u{130}i"], &["i\u{131}"]),
    ("(?ai)^k$", &["k", "K"], &["\u{212a}"]),
    (r"(?i:s)\Z", &["\u{17f}", "S"], &["S\n"]),
    ("(?i)^[^k]$", &["j"], &["\u{212a}", "K"]),
    (r"(?i)^[\u0370-\u03ff]$", &["\u{b5}", "\u{345}"], &["x"]),
    (r"(?i)^[\U00010400-\U00010427]$", &["\u{10428}", "\u{10400}"], &["\u{10450}"]),
    (r"(?i)^[\U00010400\d]$", &["1"], &["\u{10400}", "\u{10428}"]),
    (r"(?i)^[\U00010428\d]$", &["1", "\u{10400}", "\u{10428}"], &[]),
    (r"(?ai)^[\U00010400-\U00010401]$", &["\u{10428}", "\u{10400}"], &["\u{10402}"]),
    (r"(?ai)^\U00010400$", &["\u{10400}"], &["\u{10428}"]),
    (r"(?i)^[\u0200-\U00010000]$", &["\u{149}"], &["\u{148}"]),
    (r"(?i)^\d[_\s]$", &["1_"], &["1a"]),
    (r"(?a:\w)\w", &["a\u{fc}"], &["\u{fc}a", "\u{fc}\u{fc}"]),
    ("(?s:.)(?-s:.)", &["\na"], &["a\n"]),
    ("(?s)a.b(?-s:.)", &["a\nbc"], &["a\nb\n"]),
    ("(?m)^b$", &["a\nb\nc", "b\n"], &["ab"]),
    ("(?m)^$", &["a\n", "a\n\nb"], &["ab"]),
    (r"(?m)\Ab", &["b"], &["a\nb"]),
    ("(?x) a b # comment \\\n still \n c", &["abc"], &["ab"]),
    (r"(?x)a\ b[ ]c", &["a b c"], &["abc"]),
    ("(?x: a b )c d", &["abc d"], &["abcd"]),
    ("(?x)a +", &["aa"], &["b"]),
    ("(?i)(?s)A.b", &["a\nB"], &["ab"]),
    (r"a(?#x\)y)*b", &["aab", "b", "ayb"], &[]),
    (r"\B", &["ab", "-"], &["", "a"]),
    (r"\b", &["a"], &["", "-"]),
    (r"(?a)\bx", &["\u{fc}x", "x"], &["ax"]),
    ("(?:a|ab){2}+$", &["aa"], &["aba", "abab"]),
    ("(?:ab?c)*+$", &["abcac", "abb"], &[]),
    ("^(?>a|ab)c$", &["ac"], &["abc"]),
    ("^(?:a?)*+a$", &[], &["a", "aa"]),
    ("^(?>.*?b|.*?c)$", &["ab", "ac", "acb"], &[]),
    ("^(?:a*)*b$", &["aab", "b"], &["a"]),
    ("^(?:|a)+$", &["", "a", "aaa"], &["b"]),
    ("^(?:a|b??)*?c$", &["abc", "c"], &["d"]),
    ("^(?:(?=a)|b)*a$", &["a", "bba"], &["b"]),
    ("^a{2,}?$", &["aa", "aaaa"], &["a"]),
    ("^a{,1}+b$", &["ab", "b"], &["aab"]),
    ("^x{0}y$", &["y"], &["xy"]),
    ("^a{1,b}$", &["a{1,b}"], &["a"]),
    ("^{$", &["{"], &[""]),
    ("^a{-1}$", &["a{-1}"], &["a"]),
    ("^(?:^a)+$", &["a"], &["aa"]),
    ("(?<!a)b", &["b", "cb"], &["ab"]),
    ("(?<=(?:ab){2})c", &["ababc"], &["abc"]),
    (r"(?<=\ba)b", &["ab"], &["xab"]),
    ("(?<=^a)b", &["ab"], &["xab"]),
    (r"(a)(?<=\1)b", &["ab"], &["b"]),
    ("(?<!(?<=a)b)c", &["bc"], &["abc"]),
    ("(?=a(?=b))a", &["ab"], &["ac"]),
    ("(?!)", &[], &["", "a"]),
    (r"(?=(a))\1b", &["ab"], &["b"]),
    ("(?!(a))(?(1)x|b)", &["b"], &["x"]),
    ("^[]a]$", &["]", "a"], &["["]),
    ("^[^]a]$", &["b"], &["]", "a"]),
    ("^[a-]$", &["a", "-"], &["b"]),
    (r"^[\w-]$", &["a", "-"], &["."]),
    (r"^[\b]$", &["\u{8}"], &["b"]),
    (r"^[\1\x41\101]$", &["\u{1}", "A"], &["1"]),
    (r"^\0\01\012$", &["\u{0}\u{1}\n"], &[]),
    (r"^(a)\100$", &["a@"], &["aa"]),
    (r"^\ud800|x$", &["x"], &["\u{fffd}"]),
    (r"^[^\ud800]$", &["x"], &[]),
    (r"^[\ud800-\uffff]$", &["\u{e000}"], &["a"]),
    ("^\\\u{e9}$", &["\u{e9}"], &["e"]),
    (r"^(?u:\w)$", &["\u{fc}"], &["-"]),
    ("(?P<\u{540d}>x)(?P=\u{540d})", &["xx"], &["x"]),
    ("(?(2)a|b)(c)(d)", &["bcd"], &["acd"]),
    ("^((a)|b(?(2)c|d))+$", &["abc", "bd"], &["abd", "bc"]),
    ("^((?!foo).)*$", &["bar"], &["a foo"]),
    ("^(?!Bash$).*", &["BashOutput", ""], &["Bash"]),
    (r"^mcp__(?!internal_)\w+__(?:read|list)_\w+$", &["mcp__fs__read_file"], &["mcp__internal_x__read_file", "mcp__fs__write_file"]),
    ("(?:)*", &[""], &[]),
    ("(?:a|)*$", &["b"], &[]),
    ("", &["", "a"], &[]),
    ("|a", &["b"], &[]),
];

/// What Python refuses.
#[rustfmt::skip]
const REFUSED: &[&str] = &[
    "**", "*Bash", "[a--]", "[z-a]", "(?<=a+)b", "(?<=a|bc)d", "(?<q>a)", r"(a\1)", "a{3,2}",
    "a{4294967296}", "a{4294967295}", "a{2}{3}", "^(?i)bash", "(?L)a", "(?z)a", "(?U)a", r"\Ga",
    r"\Qa.b\E", r"\p{L}", r"\h", r"\R", r"\X", r"\e", r"\x4", r"\x{41}", r"\U00110000", r"\777", r"\cA",
    "a(?#note", "(?P<a>x)(?P<a>y)", "(?P<1a>x)", "(?|a|b)", "(Bash", "Bash)", r"\8", r"\1", r"(a)\2",
    r"[\8]", r"[\d-a]", r"[a-\d]", "[", "[]", "[a", r"a\", "(?", "(?P", "(?P<", "(?P<>a)", "(?P<a",
    "(?P<a b>x)", "(?P=a)", "(?P>a)", "(?(1", "(?(a)b)", "(?(0)a)", "(?(1)a)", "(?(-1)a)",
    "(a)(?(1)b|c|d)", "(?<a)", "(?<=a|)b", "(?<=a?)b", r"(a*)(?<=\1)b", r"(?<=(a)\1)b",
    "(?<=(a)(?(1)b|c))d", "(?<=(?(1)a|b))(c)", "(?i", "(?iz)a", "(?-i)a", "(?i-)a", "(?i-i:a)", "(?-a:b)",
    "(?-:a)", "(?au)b", "(?a)(?u)b", "(?t)a", "a(?i)b", "a|(?i)b", "((?i)a)", "(?iL)a", "^*", "$+", r"\b?",
    "a*+*", "a**", "a+{2}", "{1}", "?", "(?:*a)", "|*", "(?#", "(?:a", "a)", "(?>a", r"\u12", r"\U0011000",
    r"\U00110000", r"\x1", r"[\xg]", "(?P<a>x)(?(b)y)", r"(\1)", "(?P<a>(?P=a))", r"\z",
];

/// What Python accepts and hooksd does not (the last one is in both lists of reasons).
const UNSUPPORTED: &[&str] =
    &[r"\N{LATIN SMALL LETTER A}", r"[\N{EM DASH}]", r"\N{NO SUCH}", "(?P<\u{e01}>x)", "(?P<a\u{300}>x)"];

fn compiled(text: &str) -> Pattern {
    Pattern::compile(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn expressions_mean_what_they_mean_to_python() {
    for (text, matched, others) in CASES {
        let pattern = compiled(text);
        for subject in *matched {
            assert_eq!(pattern.search(subject), Ok(true), "{text:?} in {subject:?}");
        }
        for subject in *others {
            assert_eq!(pattern.search(subject), Ok(false), "{text:?} in {subject:?}");
        }
    }
}

#[test]
fn what_python_refuses_is_refused() {
    for text in REFUSED {
        match Pattern::compile(text) {
            Ok(_) => panic!("{text:?} was accepted"),
            Err(error) => assert!(error.is_invalid_in_python(), "{text:?}: {error}"),
        }
    }
}

#[test]
fn what_is_not_supported_is_refused_and_says_so() {
    let deep = "(".repeat(MAX_NESTING + 1) + &")".repeat(MAX_NESTING + 1);
    let long = "a".repeat(MAX_PATTERN_BYTES + 1);
    let sets: String = (0..1200).map(|i| format!("[\\w\\u{:04x}]", 0xe000 + i)).collect();
    for text in UNSUPPORTED.iter().copied().chain([deep.as_str(), &long, &sets]) {
        match Pattern::compile(text) {
            Ok(_) => panic!("{text:?} was accepted"),
            Err(error) => assert!(!error.is_invalid_in_python(), "{text:?}: {error}"),
        }
    }
}

#[test]
fn a_refusal_is_one_sentence_with_a_place() {
    let told = |text| Pattern::compile(text).map(|_| ()).map_err(|error| error.to_string());
    let python = "not a valid Python expression: the unknown escape `\\p` at character 2";
    assert_eq!(told(r"\é\p{L}"), Err(python.to_owned()));
    let ours = r"not supported: a character by its name, `\N{...}`, at character 1";
    assert_eq!(told(r"^\N{DASH}"), Err(ours.to_owned()));
}

#[test]
fn nesting_up_to_the_limit_works() {
    for (open, close) in [("(", ")"), ("(?:", ")*"), ("(?>", ")"), ("(?=", ")"), ("(?:x|", "|y)++")] {
        let text = open.repeat(MAX_NESTING) + "a" + &close.repeat(MAX_NESTING);
        assert_eq!(compiled(&text).search("ba"), Ok(true), "{open}");
    }
}

#[test]
fn repeats_cost_nothing_until_they_run() {
    for text in ["a{65536}", "a{4294967294}", r"(?:\w{1000}){200}", "(?:ab?){4294967294}"] {
        assert_eq!(compiled(text).search("aaaa"), Ok(false), "{text}");
    }
    assert_eq!(compiled(r"^\w{1,4294967294}$").search("aaaa"), Ok(true));
}

#[test]
fn work_is_bounded() {
    let subject = "ab".repeat(500);
    for text in [
        "(?:a|b|ab)*c",
        "(?:a?b?)*c",
        r"(?:[ab](?=[ab]*c?))*+!",
        ".*.*.*.*!",
        "(?:){4294967294}x",
        r"(\w*)*\1!",
    ] {
        assert_eq!(compiled(text).search(&subject), Err(BoundReached), "{text}");
    }
    assert_eq!(compiled("a").search(&"a".repeat(MAX_SUBJECT_BYTES + 1)), Err(BoundReached));
    let groups = "()".repeat(4000) + r"(?:.*?!|\1)*?!";
    assert_eq!(compiled(&groups).search(&subject), Err(BoundReached));
}

#[test]
fn hostile_text_is_refused_without_harm() {
    for part in [
        "(",
        "[",
        "(?P<a",
        "(?(",
        "a|",
        "\\",
        "{",
        "(?i:",
        "[^]-",
        "(?<=",
        "*",
        "(?#",
        "\\u",
        "a{1,",
        "\u{10ffff}",
    ] {
        for times in [1, 2, 3, 500, 5000] {
            let text = part.repeat(times);
            if let Ok(pattern) = Pattern::compile(&text) {
                assert!(pattern.search("").is_ok(), "{part} {times}");
            }
        }
    }
}

fn count(class: fn(char) -> bool) -> usize {
    ('\0'..=char::MAX).filter(|&c| class(c)).count()
}

#[test]
fn classes_are_those_of_unicode_15_1() {
    assert_eq!((count(chars::is_word), count(chars::is_space), count(chars::is_digit)), (138_558, 29, 680));
    assert_eq!(count(|c| chars::is_word(c) || chars::is_space(c) || ",-|".contains(c)), 138_590);
    let edges =
        ['_', '\u{b2}', '\u{2167}', '\u{308}', '\u{203f}', '\u{24b6}', '\u{1c}', '\u{200b}', '\u{663}'];
    let told = edges.map(|c| (chars::is_word(c), chars::is_space(c), chars::is_digit(c)));
    let (word, none) = ((true, false, false), (false, false, false));
    let expected = [word, word, word, none, none, none, (false, true, false), none, (true, false, true)];
    assert_eq!(told, expected);
}

#[test]
fn lower_case_is_one_character_to_one() {
    let told = ['A', 'a', '\u{130}', '\u{212a}', '\u{1e9e}', '\u{13a0}', '\u{10400}']
        .map(|c| chars::lower(c.into()));
    assert_eq!(told, [0x61, 0x61, 0x69, 0x6b, 0xdf, 0xab70, 0x10428]);
}

#[test]
fn tables_are_sorted_and_disjoint() {
    for table in [tables::WORD, tables::SPACE, tables::DIGIT, tables::NAME] {
        assert!(table.iter().all(|(first, last)| first <= last));
        assert!(table.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
    assert!(tables::LOWER.windows(2).all(|pair| pair[0].1 < pair[1].0));
}

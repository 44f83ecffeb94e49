//! Runs a program against a subject.
//!
//! Guarantees: the order of attempts, the treatment of empty repetitions and what becomes of captures on the way
//! back are those of CPython 3.13; every search ends after `MAX_STEPS` steps. Recursion happens only for atomic
//! groups, possessive repeats and look-arounds, so the nesting of the expression bounds it.

use crate::ast::{At, Greed, UNLIMITED};
use crate::captures::{Captures, Saved};
use crate::program::{Inst, One, Program};
use crate::{BoundReached, chars};

/// Stands for no loop, or for no position.
const NONE: u32 = u32::MAX;

/// Whether `re.search` finds the program in the subject, within the steps that are left. Those that it takes are
/// taken off.
pub(crate) fn search(program: &Program, subject: &str, left: &mut usize) -> Result<bool, BoundReached> {
    let text: Vec<char> = subject.chars().collect();
    let anchored = matches!(program.code.first(), Some(Inst::At(At::Begin | At::BeginString)));
    let mut run = Search {
        program,
        steps: *left,
        choices: Vec::new(),
        loops: Vec::new(),
        current: NONE,
        captures: Captures::new(program.marks),
        text,
    };
    let mut found = Ok(false);
    for start in 0..=run.text.len() {
        if ((run.text.len() - start) as u64) < program.min || (anchored && start > 0) {
            break;
        }
        run.captures.clear();
        run.current = NONE;
        found = run.run(0, start).map(|end| end.is_some());
        if found != Ok(false) {
            break;
        }
    }
    *left = run.steps;
    found
}

/// One round of a loop. It is never changed, so that a way back only has to name an older one.
#[derive(Clone, Copy)]
struct Round {
    /// The round of the loop around this one, at the time this one began.
    outer: u32,
    /// One more than the rounds that were finished before this one; 0 before the loop is first reached.
    count: u32,
    /// Where the last optional round began, so that the loop ends after an empty one.
    began: u32,
}

/// What to do when everything after a choice has failed.
#[derive(Clone, Copy)]
enum Retry {
    /// Take this alternative of the branch.
    Branch(u32),
    /// Give back one of the characters that were taken.
    Fewer(u32),
    /// Take one character more than were taken.
    More(u32),
    /// Leave a greedy loop.
    Leave,
    /// Run a lazy loop once more.
    Again,
}

#[derive(Clone, Copy)]
struct Choice {
    retry: Retry,
    pc: u32,
    at: u32,
    current: u32,
    /// How many rounds to keep.
    loops: u32,
    saved: Saved,
}

enum Flow {
    Go(usize, usize),
    Fail,
    Done(usize),
}

struct Search<'a> {
    program: &'a Program,
    text: Vec<char>,
    steps: usize,
    choices: Vec<Choice>,
    loops: Vec<Round>,
    /// The round of the innermost loop that is being run.
    current: u32,
    captures: Captures,
}

impl Search<'_> {
    fn spend(&mut self, steps: usize) -> Result<(), BoundReached> {
        self.steps = self.steps.checked_sub(steps).ok_or(BoundReached)?;
        Ok(())
    }

    /// Runs from an instruction to `Success`, and says where in the subject that was; `None` when there is no way.
    fn run(&mut self, pc: usize, at: usize) -> Result<Option<usize>, BoundReached> {
        let (choices, loops, saved) = (self.choices.len(), self.loops.len(), self.captures.save(false));
        let current = self.current;
        let mut flow = Flow::Go(pc, at);
        let end = loop {
            self.spend(1)?;
            flow = match flow {
                Flow::Go(pc, at) => self.step(pc, at)?,
                Flow::Fail if self.choices.len() <= choices => break None,
                Flow::Fail => self.retry()?,
                Flow::Done(at) => break Some(at),
            };
        };
        self.choices.truncate(choices);
        self.loops.truncate(loops);
        self.captures.discard(saved);
        // A failed body leaves from inside its loops; one that ends well has left them already.
        self.current = current;
        Ok(end)
    }

    fn step(&mut self, pc: usize, at: usize) -> Result<Flow, BoundReached> {
        let program = self.program;
        let Some(inst) = program.code.get(pc) else { return Ok(Flow::Fail) };
        Ok(match *inst {
            Inst::One(one) if self.is(one, at) => Flow::Go(pc + 1, at + 1),
            Inst::One(_) => Flow::Fail,
            Inst::At(position) if self.at(position, at) => Flow::Go(pc + 1, at),
            Inst::At(_) => Flow::Fail,
            Inst::Mark(mark) => {
                let skipped = self.captures.mark(mark, at);
                self.spend(skipped)?;
                Flow::Go(pc + 1, at)
            }
            Inst::Branch(ref items) => {
                self.choose(Retry::Branch(1), pc, at, self.current != NONE)?;
                items.first().map_or(Flow::Fail, |&first| Flow::Go(first, at))
            }
            Inst::Jump(to) => Flow::Go(to, at),
            Inst::RepeatOne { one, min, max, greed } => self.repeat_one(pc, at, (one, min, max, greed))?,
            Inst::Repeat { until } => {
                self.enter(Round { outer: self.current, count: 0, began: NONE });
                Flow::Go(until, at)
            }
            Inst::Until { body, min, max, lazy } => self.until(pc, at, (body, min, max, lazy))?,
            Inst::Possessive { min, max, end } => self.possessive(pc + 1, at, (min, max, end))?,
            Inst::Atomic { end } => self.run(pc + 1, at)?.map_or(Flow::Fail, |at| Flow::Go(end, at)),
            Inst::Assert { negated: false, back, end } => match at.checked_sub(back) {
                Some(from) if self.run(pc + 1, from)?.is_some() => Flow::Go(end, at),
                _ => Flow::Fail,
            },
            Inst::Assert { negated: true, back, end } => self.refute(pc + 1, at, back, end)?,
            Inst::GroupRef { group, fold } => {
                self.group_ref(group, fold, at)?.map_or(Flow::Fail, |at| Flow::Go(pc + 1, at))
            }
            Inst::IfGroup { group, otherwise } => {
                Flow::Go(if self.captures.group(group).is_some() { pc + 1 } else { otherwise }, at)
            }
            Inst::Success => Flow::Done(at),
        })
    }

    fn is(&self, one: One, at: usize) -> bool {
        let Some(&c) = self.text.get(at) else { return false };
        match one {
            One::Any => true,
            One::NotNewline => c != '\n',
            One::Char(wanted) => c == wanted,
            One::Set(set) => self.program.sets.get(set).is_some_and(|set| set.contains(c)),
        }
    }

    fn at(&self, position: At, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.text.get(at)).copied();
        let here = self.text.get(at).copied();
        match position {
            At::Begin | At::BeginString => before.is_none(),
            At::BeginLine => before.is_none_or(|c| c == '\n'),
            At::EndString => here.is_none(),
            At::EndLine => here.is_none_or(|c| c == '\n'),
            At::End => here.is_none_or(|c| c == '\n' && at + 1 == self.text.len()),
            // Before Python 3.14 neither matches in an empty subject.
            At::Boundary { .. } if self.text.is_empty() => false,
            At::Boundary { ascii, negated } => {
                let word =
                    |c: char| if ascii { c.is_ascii_alphanumeric() || c == '_' } else { chars::is_word(c) };
                (before.is_some_and(word) == here.is_some_and(word)) == negated
            }
        }
    }

    /// Leaves a way back. With `values`, captures get their old values on it.
    fn choose(&mut self, retry: Retry, pc: usize, at: usize, values: bool) -> Result<(), BoundReached> {
        let saved = self.save(values)?;
        let (loops, current) = (self.loops.len() as u32, self.current);
        self.choices.push(Choice { retry, pc: pc as u32, at: at as u32, current, loops, saved });
        Ok(())
    }

    fn save(&mut self, values: bool) -> Result<Saved, BoundReached> {
        let saved = self.captures.save(values);
        self.spend(saved.size())?;
        Ok(saved)
    }

    /// Goes back to the last choice.
    fn retry(&mut self) -> Result<Flow, BoundReached> {
        let Some(mut choice) = self.choices.pop() else { return Ok(Flow::Fail) };
        self.spend(choice.saved.size())?;
        self.captures.restore(choice.saved);
        self.loops.truncate(choice.loops as usize);
        self.current = choice.current;
        let (pc, at) = (choice.pc as usize, choice.at as usize);
        let inst = self.program.code.get(pc);
        let mut next = None;
        let flow = match (choice.retry, inst) {
            (Retry::Branch(item), Some(Inst::Branch(items))) => match items.get(item as usize) {
                Some(&start) => {
                    next = Some(Retry::Branch(item + 1));
                    Flow::Go(start, at)
                }
                None => Flow::Fail,
            },
            (Retry::Fewer(taken), Some(Inst::RepeatOne { min, .. })) if taken > *min => {
                next = Some(Retry::Fewer(taken - 1));
                Flow::Go(pc + 1, at + taken as usize - 1)
            }
            (Retry::More(taken), Some(&Inst::RepeatOne { one, max, .. })) if taken < max => {
                let here = at + taken as usize;
                if self.is(one, here) {
                    next = Some(Retry::More(taken + 1));
                    Flow::Go(pc + 1, here + 1)
                } else {
                    Flow::Fail
                }
            }
            (Retry::Leave, _) => {
                self.leave();
                Flow::Go(pc + 1, at)
            }
            (Retry::Again, Some(&Inst::Until { body, max, .. })) => self.again(body, max, at),
            _ => Flow::Fail,
        };
        match next {
            Some(retry) => {
                choice.retry = retry;
                self.choices.push(choice);
            }
            None => self.captures.discard(choice.saved),
        }
        Ok(flow)
    }

    fn repeat_one(
        &mut self,
        pc: usize,
        at: usize,
        (one, min, max, greed): (One, u32, u32, Greed),
    ) -> Result<Flow, BoundReached> {
        let left = (self.text.len() - at) as u32;
        if min > left {
            return Ok(Flow::Fail);
        }
        let most = if greed == Greed::Lazy { min } else { max.min(left) };
        let taken = (0..most).take_while(|&taken| self.is(one, at + taken as usize)).count() as u32;
        self.spend(taken as usize)?;
        if taken < min {
            return Ok(Flow::Fail);
        }
        let save = self.current != NONE;
        match greed {
            Greed::Greedy => self.choose(Retry::Fewer(taken), pc, at, save)?,
            Greed::Lazy => self.choose(Retry::More(taken), pc, at, save)?,
            Greed::Possessive => {}
        }
        Ok(Flow::Go(pc + 1, at + taken as usize))
    }

    fn enter(&mut self, round: Round) {
        self.current = self.loops.len() as u32;
        self.loops.push(round);
    }

    fn round(&self) -> Round {
        let none = Round { outer: NONE, count: 0, began: NONE };
        self.loops.get(self.current as usize).copied().unwrap_or(none)
    }

    fn leave(&mut self) {
        self.current = self.round().outer;
    }

    /// Runs the instruction at the end of a loop's body, which is also where the loop is entered.
    fn until(
        &mut self,
        pc: usize,
        at: usize,
        (body, min, max, lazy): (usize, u32, u32, bool),
    ) -> Result<Flow, BoundReached> {
        let round = self.round();
        if round.count < min {
            self.enter(Round { count: round.count + 1, ..round });
            return Ok(Flow::Go(body, at));
        }
        if lazy {
            self.choose(Retry::Again, pc, at, round.outer != NONE)?;
        } else if (round.count < max || max == UNLIMITED) && round.began != at as u32 {
            self.choose(Retry::Leave, pc, at, true)?;
            return Ok(self.again(body, max, at));
        }
        self.leave();
        Ok(Flow::Go(pc + 1, at))
    }

    /// Begins one more round of a loop that need not be run again.
    fn again(&mut self, body: usize, max: u32, at: usize) -> Flow {
        let round = self.round();
        if (round.count >= max && max != UNLIMITED) || round.began == at as u32 {
            return Flow::Fail;
        }
        self.enter(Round { count: round.count + 1, began: at as u32, ..round });
        Flow::Go(body, at)
    }

    fn possessive(
        &mut self,
        body: usize,
        mut at: usize,
        (min, max, end): (u32, u32, usize),
    ) -> Result<Flow, BoundReached> {
        for _ in 0..min {
            match self.run(body, at)? {
                Some(next) => at = next,
                None => return Ok(Flow::Fail),
            }
        }
        let mut count = min;
        let mut began = None;
        while (count < max || max == UNLIMITED) && began != Some(at) {
            let saved = self.save(true)?;
            began = Some(at);
            let next = self.run(body, at)?;
            if next.is_none() {
                self.captures.restore(saved);
            }
            self.captures.discard(saved);
            let Some(next) = next else { break };
            at = next;
            count += 1;
        }
        Ok(Flow::Go(end, at))
    }

    /// Runs a negative look-around.
    fn refute(&mut self, body: usize, at: usize, back: usize, end: usize) -> Result<Flow, BoundReached> {
        let Some(from) = at.checked_sub(back) else { return Ok(Flow::Go(end, at)) };
        let saved = self.save(self.current != NONE)?;
        let found = self.run(body, from)?.is_some();
        if !found {
            self.captures.restore(saved);
        }
        self.captures.discard(saved);
        Ok(if found { Flow::Fail } else { Flow::Go(end, at) })
    }

    fn group_ref(
        &mut self,
        group: usize,
        fold: Option<fn(u32) -> u32>,
        at: usize,
    ) -> Result<Option<usize>, BoundReached> {
        let Some((from, to)) = self.captures.group(group) else { return Ok(None) };
        self.spend(to - from)?;
        let (Some(wanted), Some(found)) = (self.text.get(from..to), self.text.get(at..at + to - from)) else {
            return Ok(None);
        };
        let same = |(a, b): (&char, &char)| {
            a == b || fold.is_some_and(|fold| fold((*a).into()) == fold((*b).into()))
        };
        Ok(wanted.iter().zip(found).all(same).then_some(at + to - from))
    }
}

//! JSON as text that belongs to somebody else: where each part of it stands ([`mod@parse`]), and changes that leave every
//! other byte alone ([`edit`]). Nothing here is ever serialised from values, except what we add ([`render`]).

pub(crate) mod edit;
pub(crate) mod parse;
pub(crate) mod render;

#[cfg(test)]
mod tests;

pub(crate) use parse::{Dialect, Node, parse};

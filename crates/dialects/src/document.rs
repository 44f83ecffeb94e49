//! The JSON of an answer, put together member by member.

use crate::rewrite::quoted;
use crate::wishes::Content;

/// The value of a member.
#[derive(Debug)]
enum Node {
    /// A text, which becomes a JSON string.
    Text(String),
    /// JSON, as it is.
    Json(String),
    /// An object that is under construction itself.
    Object(Document),
}

/// An object under construction. Its members stand in the order in which they were put in.
#[derive(Debug, Default)]
pub(crate) struct Document {
    members: Vec<(String, Node)>,
}

impl Document {
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    /// Puts something at a path, whose dots lead inwards. A text that is put where another text is follows it.
    /// Anything else that is there stays, for what was put first is more important.
    pub(crate) fn put(&mut self, path: &str, content: Content) {
        let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let node = self.members.iter_mut().find(|(known, _)| known == name).map(|(_, node)| node);
        match (node, rest, content) {
            (Some(Node::Object(inner)), Some(rest), content) => inner.put(rest, content),
            (Some(Node::Text(text)), None, Content::Text(more)) if *text != more => {
                text.push_str("\n\n");
                text.push_str(&more);
            }
            (Some(_), _, _) => {}
            (None, Some(rest), content) => {
                let mut inner = Document::default();
                inner.put(rest, content);
                self.members.push((name.to_owned(), Node::Object(inner)));
            }
            (None, None, Content::Text(text)) => self.members.push((name.to_owned(), Node::Text(text))),
            (None, None, Content::Json(json)) => self.members.push((name.to_owned(), Node::Json(json))),
        }
    }

    /// Puts a text into the object `outer`, if that is there, before everything else in it.
    pub(crate) fn put_first(&mut self, outer: &str, name: &str, word: &str) {
        if let Some((_, Node::Object(inner))) = self.members.iter_mut().find(|(known, _)| known == outer) {
            inner.members.insert(0, (name.to_owned(), Node::Text(word.to_owned())));
        }
    }

    pub(crate) fn json(&self) -> String {
        let members = self.members.iter().map(|(name, node)| {
            let value = match node {
                Node::Text(text) => quoted(text),
                Node::Json(json) => json.clone(),
                Node::Object(inner) => inner.json(),
            };
            format!("{}:{value}", quoted(name))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

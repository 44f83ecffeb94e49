//! Secrets in addresses: the user and the password, and the paths by which whoever knows them may post or call.

use super::text::{Found, Passed, is_end_of_url, run};

/// Services whose addresses are secrets, and after which part of the path the secret begins. A host stands for those
/// below it as well.
const WEBHOOKS: &[(&str, &str)] = &[
    ("hooks.slack.com", "/services/"),
    ("hooks.slack.com", "/workflows/"),
    ("hooks.slack.com", "/triggers/"),
    ("hooks.slack.com", "/commands/"),
    ("hooks.slack-gov.com", "/services/"),
    ("discord.com", "/webhooks/"),
    ("discordapp.com", "/webhooks/"),
    ("webhook.office.com", "/webhookb2/"),
    ("outlook.office.com", "/webhook/"),
    ("outlook.office365.com", "/webhook/"),
    ("logic.azure.com", "/workflows/"),
    ("powerplatform.com", "/workflows/"),
    ("hooks.zapier.com", "/catch/"),
    ("maker.ifttt.com", "/with/key/"),
    ("maker.ifttt.com", "/use/"),
    ("events.pagerduty.com", "/integration/"),
    ("alert.victorops.com", "/alert/"),
    ("webexapis.com", "/incoming/"),
    ("api.ciscospark.com", "/incoming/"),
    ("hooks.chime.aws", "/incomingwebhooks/"),
    ("make.com", "/"),
    ("hook.integromat.com", "/"),
    ("open.feishu.cn", "/hook/"),
    ("open.larksuite.com", "/hook/"),
    ("script.google.com", "/macros/s/"),
    ("hc-ping.com", "/"),
    ("webhook.site", "/"),
    ("hooks.nabu.casa", "/"),
    ("api.netlify.com", "/build_hooks/"),
    ("api.vercel.com", "/deploy/"),
    ("api.cloudflare.com", "/deploy_hooks/"),
    ("hooks.airtable.com", "/workflows/"),
    ("api.flock.com", "/sendMessage/"),
    ("hooks.ringcentral.com", "/webhook/"),
    ("hooks.glip.com", "/webhook/"),
    ("infura.io", "/v3/"),
    ("alchemy.com", "/v2/"),
];

/// Parts of a path after which one that looks random is a secret, on whatever host: Mattermost, Rocket.Chat and
/// others run on people's own.
const HOOK_PARTS: [&str; 10] = [
    "hooks",
    "hook",
    "webhook",
    "webhooks",
    "webhookb2",
    "build_hooks",
    "deploy_hooks",
    "incoming",
    "integration",
    "integrations",
];

/// How many parts of a path after one of [`HOOK_PARTS`] may be the secret.
const MAX_PARTS: usize = 3;

/// The shortest piece of letters and digits that looks random. Bytes.
const MIN_RANDOM: usize = 16;

/// Finds the user and the password in a URL.
pub(super) fn credentials(rest: &str, at: usize, passed: &mut Passed) -> Option<Found> {
    let after = rest.strip_prefix("://").filter(|_| at >= passed.no_user)?;
    let authority =
        run(after, |c| !c.is_whitespace() && !matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>'));
    // A password may hold a slash or an at sign that should have been escaped.
    let line = run(after, |c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>'));
    if !after.get(..line)?.contains('@') {
        passed.no_user = at + 3 + line;
        return None;
    }
    let last =
        after.get(..line)?.rfind('@').filter(|at| after.get(..*at).is_some_and(|user| user.contains(':')));
    let user_end = last.or_else(|| after.get(..authority)?.rfind('@'))?;
    (user_end > 0).then_some((3, user_end))
}

/// Finds the secret path of a service's address. `host` is what `rest` begins with.
pub(super) fn webhook(rest: &str, at: usize, host: &str, passed: &mut Passed) -> Option<Found> {
    let mut path = rest.get(host.len()..)?;
    if let Some(after) = path.strip_prefix(':') {
        path = after.get(run(after, |c| c.is_ascii_digit())..)?;
    }
    // A name within a path that was looked through is a part of that, and no host.
    if !path.starts_with('/') || at < passed.path_end {
        return None;
    }
    let is_at = |service: &str| {
        let start = host.len().checked_sub(service.len());
        start.is_some_and(|start| {
            let is_same = host.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(service));
            is_same && (start == 0 || host.get(..start).is_some_and(|below| below.ends_with('.')))
        })
    };
    let mut marks = WEBHOOKS.iter().filter(|(service, _)| is_at(service)).peekable();
    marks.peek()?;
    // An address that follows in the same word is looked at for itself.
    let length = run(path, |c| !is_end_of_url(c) && c != ':');
    let before = rest.len() - path.len();
    passed.path_end = at + before + length;
    let after = marks.find_map(|(service, mark)| {
        // The other pages of this service are no webhooks.
        let is_page = *service == "make.com" && !host.starts_with("hook.");
        path.get(..length)?.find(mark).filter(|_| !is_page).map(|found| found + mark.len())
    })?;
    let secret = run(path.get(after..)?, |c| !is_end_of_url(c));
    (secret > 0).then_some((before + after, secret))
}

/// Finds the random part of a path that comes after a part which says that it is a webhook's, and the token of a bot of
/// Telegram.
pub(super) fn hook_path(rest: &str) -> Option<Found> {
    let path = rest.strip_prefix('/')?;
    if let Some(after) = path.strip_prefix("bot") {
        let id = run(after, |c| c.is_ascii_digit());
        let secret = after.get(id..)?.strip_prefix(':').filter(|_| id > 0)?;
        let length = run(secret, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        return (length >= MIN_RANDOM).then_some((4, id + 1 + length));
    }
    let part = part(path);
    if !path.get(part..)?.starts_with('/') || !HOOK_PARTS.contains(&path.get(..part)?) {
        return None;
    }
    let mut kept = 1 + part + 1;
    for _ in 0..MAX_PARTS {
        let after = rest.get(kept..)?;
        let length = self::part(after);
        if is_random(after.get(..length)?) {
            return Some((kept, run(after, |c| !is_end_of_url(c) && !matches!(c, '?' | '#'))));
        }
        if !after.get(length..)?.starts_with('/') {
            return None;
        }
        kept += length + 1;
    }
    None
}

/// How long the part of a path is that begins the text. Bytes.
fn part(text: &str) -> usize {
    run(text, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '%' | '@'))
}

/// Whether nobody would have chosen this text: it has a long piece with letters and digits in it, or it is a UUID.
pub(super) fn is_random(text: &str) -> bool {
    let is_uuid = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let mixed = |piece: &str| {
        piece.len() >= MIN_RANDOM
            && piece.bytes().any(|byte| byte.is_ascii_digit())
            && piece.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    is_uuid || text.split(|c: char| !c.is_ascii_alphanumeric()).any(mixed)
}

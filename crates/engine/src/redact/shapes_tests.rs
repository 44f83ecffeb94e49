//! Shapes of secrets that go, and texts that look a little like them and stay byte for byte. The planted secrets are made up.

use hooksd_json::{Dialect, Value};

use super::{REDACTED, Redactor};

/// What goes: a text, and what is left of it. `<T>` stands for a piece of 24 letters and digits, `<H>` for 32 hexadecimal
/// digits; they are put together here, so that no scanner takes this file for a leak.
const GOES: &[(&str, &str)] = &[
    // Addresses of webhooks.
    ("https://hooks.slack.com/services/T000/B000/<T> x", "https://hooks.slack.com/services/[redacted] x"),
    ("curl hooks.slack.com/triggers/T0/1/<H>", "curl hooks.slack.com/triggers/[redacted]"),
    ("https://discord.com/api/webhooks/123/<T>", "https://discord.com/api/webhooks/[redacted]"),
    (
        "https://ptb.discordapp.com/api/v10/webhooks/1/<T>?wait=true",
        "https://ptb.discordapp.com/api/v10/webhooks/[redacted]",
    ),
    (
        "https://acme.webhook.office.com/webhookb2/<H>@<H>/x",
        "https://acme.webhook.office.com/webhookb2/[redacted]",
    ),
    (
        "https://outlook.office.com/webhook/<H>/IncomingWebhook/<H>",
        "https://outlook.office.com/webhook/[redacted]",
    ),
    (
        "https://prod-1.westeurope.logic.azure.com:443/workflows/<H>/triggers/manual",
        "https://prod-1.westeurope.logic.azure.com:443/workflows/[redacted]",
    ),
    ("https://chat.acme.io/hooks/<T>ab", "https://chat.acme.io/hooks/[redacted]"),
    ("http://rocket.acme.io:3000/hooks/<T>/<T><T>", "http://rocket.acme.io:3000/hooks/[redacted]"),
    (
        "https://chat.googleapis.com/v1/spaces/A/messages?key=<T>&token=<T>",
        "https://chat.googleapis.com/v1/spaces/A/messages?key=[redacted]&token=[redacted]",
    ),
    ("https://hooks.zapier.com/hooks/catch/12/ab3/", "https://hooks.zapier.com/hooks/catch/[redacted]"),
    (
        "https://maker.ifttt.com/trigger/door/with/key/<T>",
        "https://maker.ifttt.com/trigger/door/with/key/[redacted]",
    ),
    (
        "https://api.telegram.org/bot1234567:<T>abcdefghijk/sendMessage",
        "https://api.telegram.org/bot[redacted]/sendMessage",
    ),
    (
        "https://events.pagerduty.com/integration/<H>/enqueue",
        "https://events.pagerduty.com/integration/[redacted]",
    ),
    ("{\"routing_key\": \"<H>\"}", "{\"routing_key\": \"[redacted]\"}"),
    (
        "https://api.opsgenie.com/v1/json/prometheus?apiKey=<T>",
        "https://api.opsgenie.com/v1/json/prometheus?apiKey=[redacted]",
    ),
    (
        "https://alert.victorops.com/integrations/generic/1/alert/<T>/x",
        "https://alert.victorops.com/integrations/generic/1/alert/[redacted]",
    ),
    ("https://hook.eu1.make.com/abcdefghij", "https://hook.eu1.make.com/[redacted]"),
    ("https://hc-ping.com/<H>", "https://hc-ping.com/[redacted]"),
    (
        "https://n8n.acme.io/webhook/11112222-3333-4444-5555-666677778888",
        "https://n8n.acme.io/webhook/[redacted]",
    ),
    // Signatures and tokens in queries and fragments.
    (
        "https://a.blob.core.windows.net/c/f?sv=2022&se=2030&sp=r&sig=<T>%3D",
        "https://a.blob.core.windows.net/c/f?sv=2022&se=2030&sp=r&sig=[redacted]",
    ),
    (
        "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=<H>",
        "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=[redacted]",
    ),
    (
        "https://storage.googleapis.com/b?X-Goog-Signature=<H>&x=1",
        "https://storage.googleapis.com/b?X-Goog-Signature=[redacted]&x=1",
    ),
    ("https://a.io/cb#access_token=<T>&state=x1", "https://a.io/cb#access_token=[redacted]&state=x1"),
    ("GET /cb?code=4/0AX4XfWi<T>&scope=email HTTP/1.1", "GET /cb?code=[redacted]&scope=email HTTP/1.1"),
    ("'https://a.io/?a=1&amp;signature=<T>'", "'https://a.io/?a=1&amp;signature=[redacted]'"),
    ("https://a.io/x?a=1\\u0026sig=<T>\\u0026b=2", "https://a.io/x?a=1\\u0026sig=[redacted]\\u0026b=2"),
    ("https://a.io/x?password=Tr0ub4dor&y=2", "https://a.io/x?password=[redacted]&y=2"),
    ("https://a.io/x?api_key=<T>#top", "https://a.io/x?api_key=[redacted]#top"),
    ("redis://:Tr0ub4dor@cache:6379/0", "redis://[redacted]@cache:6379/0"),
    ("psql postgresql://app:Tr0ub4dor@db/app -c x", "psql postgresql://[redacted]@db/app -c x"),
    // Arguments of programs.
    ("curl -u bob:Tr0ub4dor https://a.io", "curl -u [redacted] https://a.io"),
    ("/usr/bin/curl -sSu 'bob:Tr0ub4 dor' a.io", "/usr/bin/curl -sSu '[redacted]' a.io"),
    ("curl --user=bob:Tr0ub4dor a.io", "curl --user=[redacted] a.io"),
    ("curl a.io \\\n  -ubob:Tr0ub4dor", "curl a.io \\\n  -u[redacted]"),
    ("curl -b session=abc a.io", "curl -b [redacted] a.io"),
    ("mysql -uroot -pTr0ub4dor app", "mysql -uroot -p[redacted] app"),
    ("mysqldump -p'two words' app", "mysqldump -p'[redacted]' app"),
    ("mysql --password=correct -e 1", "mysql --password=[redacted] -e 1"),
    ("mongosh -u bob -p correct --host x", "mongosh -u bob -p [redacted] --host x"),
    ("redis-cli -h cache -a correct ping", "redis-cli -h cache -a [redacted] ping"),
    ("redis-cli --pass correct ping", "redis-cli --pass [redacted] ping"),
    ("docker login -u bob -p correct reg.io", "docker login -u bob -p [redacted] reg.io"),
    ("sshpass -p correct ssh -p 2222 host", "sshpass -p [redacted] ssh -p 2222 host"),
    ("ldapsearch -D cn=x -w correct", "ldapsearch -D cn=x -w [redacted]"),
    ("machine a.io login bob password correct", "machine a.io login bob password [redacted]"),
    ("[\"mysql\", \"-p\", \"Tr0ub4dor\"]", "[\"mysql\", \"-p\", \"[redacted]\"]"),
    ("[\"x\", \"--token\", \"abc\"]", "[\"x\", \"--token\", \"[redacted]\"]"),
    // Tokens of services.
    ("xoxb-1234567890-<T>", "[redacted]"),
    ("xoxe.xoxp-1-<T>", "[redacted]"),
    ("bot 1234567890:AAE<T>abcdefgh.", "bot [redacted]."),
    ("MTIz<T>.Gabcde.<T>abcdefghijklmn", "[redacted]"),
    ("SG.<T>.<T><T>", "[redacted]"),
    ("key-<H>", "[redacted]"),
    ("SK<H>, ok", "[redacted], ok"),
    ("<H>-us21", "[redacted]"),
    ("sk_live_<T> and rk_test_<T>", "[redacted] and [redacted]"),
    ("sk-ant-api03-<T>", "[redacted]"),
    ("sk-proj-<T>", "[redacted]"),
    ("sk-abcdefghijklmnop", "[redacted]"),
    ("glpat-<T> glrt-<T>", "[redacted] [redacted]"),
    ("npm_<T>abcdefghijkl", "[redacted]"),
    ("pypi-AgEIcHlwaS5vcmc<T>", "[redacted]"),
    ("hf_<T>abcdefghij", "[redacted]"),
    ("AKIA<T> AIza<T>", "[redacted] [redacted]"),
    ("ya29.<T> GOCSPX-<T>", "[redacted] [redacted]"),
    ("abc8Q~<T>abcdefghij", "[redacted]"),
    ("hvs.<T> tskey-auth-<T>", "[redacted] [redacted]"),
    ("dckr_pat_<T> shpat_<H>", "[redacted] [redacted]"),
    ("AGE-SECRET-KEY-1QQ<T>", "[redacted]"),
    ("Bearer <T>", "Bearer [redacted]"),
    ("bearer lkjhgfdsapoiuy", "bearer [redacted]"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3\n-----END OPENSSH PRIVATE KEY-----\nx", "[redacted]\nx"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----", "[redacted]"),
    // Names and values.
    ("DB_PASS=correct", "DB_PASS=[redacted]"),
    ("export AUTH=Tr0ub4dor", "export AUTH=[redacted]"),
    ("PIN=4711 x", "PIN=[redacted] x"),
    ("MYSQL_PWD=correct mysql", "MYSQL_PWD=[redacted] mysql"),
    ("GOOGLE_CREDENTIALS=abc", "GOOGLE_CREDENTIALS=[redacted]"),
    ("SESSION=<T>", "SESSION=[redacted]"),
    ("PHPSESSID=<T>; x", "PHPSESSID=[redacted] x"),
    ("DSN=bob:Tr0ub4dor@tcp(db:3306)/app", "DSN=[redacted]"),
    ("CONN=Server=x;Pwd=Tr0ub4dor;", "CONN=[redacted]"),
    ("SIGNING=<H>", "SIGNING=[redacted]"),
    ("PASSWORD_SALT: \"$2b$12$abc\"", "PASSWORD_SALT: \"[redacted]\""),
    ("PRIVATE=correct", "PRIVATE=[redacted]"),
    ("password: is hunter2", "password: is [redacted]"),
    ("password: password", "password: [redacted]"),
    ("DB_PASSWORD: 'correct horse battery staple'", "DB_PASSWORD: '[redacted]'"),
    ("//registry.npmjs.org/:_authToken=<T>", "//registry.npmjs.org/:_authToken=[redacted]"),
    (
        "kubectl create secret generic x --from-literal=db-pass=correct",
        "kubectl create secret generic x --from-literal=db-pass=[redacted]",
    ),
];

/// What stays.
const STAYS: &[&str] = &[
    // Sentences about secrets.
    "sh: 1: API_KEY: parameter not set",
    "API_KEY: parameter not set (see the README)",
    "DB_PASSWORD is required",
    "DB_PASSWORD: required",
    "token expired",
    "token: expired at 10:00",
    "password: must be at least 8 characters",
    "password: cannot be empty",
    "{\"password\": \"must be at least 8 characters\"}",
    "{\"password\": \"Password is too short\"}",
    "error: --token is required",
    "use --token or --key",
    "--password requires an argument",
    "secret: not found",
    "api_key = None",
    "token: null,",
    "TOKEN=true",
    "def login(password: str, token: str = \"\"):",
    "Authorization: required",
    "Bearer authentication failed",
    "the bearer of good news",
    "private: true",
    // References and places.
    "API_KEY=$API_KEY make",
    "--password \"${DB_PASSWORD}\"",
    "curl -u \"$USER:$PASS\" a.io",
    "mysql -p\"$DB_PASS\" app",
    "mysql -u root -p app",
    "password=<your password>",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "api_key: ***",
    "const token = process.env.API_TOKEN",
    "password = os.environ[\"DB_PASSWORD\"]",
    "--password-stdin reg.io",
    "KEY_FILE=/etc/tls/key.pem",
    // Names that are none of secrets.
    "PATH=/usr/bin:/bin",
    "AUTHOR=someone42x",
    "GIT_AUTHOR_NAME=bob1234",
    "PINNED=rev123abc",
    "KEYBOARD=us-intl",
    "keywords: a1b2c3d4",
    "monkey=banana",
    "PWD=/home/x OLDPWD=/tmp",
    "HOOKSD_SESSION=0f3c2a1b HOOKSD_RUN=a1b2c3d4e5",
    "\"session_id\": \"0f3c2a1b-1111-2222-3333-444455556666\"",
    "SSH_AUTH_SOCK=/run/user/1000/agent.1",
    "XDG_SESSION_TYPE=wayland1",
    "DESKTOP_SESSION=ubuntu",
    "AUTH_METHOD=scram256x",
    "auth: oauth2",
    "signing: sha256",
    "connection: keep-alive",
    "CONN=localhost:5432",
    "session: build-42",
    "compass=north1east2",
    "--- PASS: TestParse2Things (0.00s)",
    "pass: 12, fail: 3",
    "PIN: 13",
    "max_tokens=4096, total_tokens: 512",
    "token_type: bearer",
    "PASSWORD_MIN_LENGTH=12",
    // Addresses.
    "https://docs.acme.io/webhooks/how-to-sign-2-things",
    "https://discord.com/developers/docs/resources/webhook",
    "https://api.github.com/repos/a/b/hooks/12345678",
    "https://www.make.com/en/help",
    ".git/hooks/pre-commit and ~/hooks/guard.py",
    "https://a.io/x?state=open&page=2&sort=id#L10",
    "https://a.io/x?code=404&sv=2022",
    "https://hooks.slack.com/",
    "git@github.com:a/b.git https://github.com/a/b",
    // Arguments of programs.
    "docker run -u 1000:1000 -p 8080:80 x",
    "psql -p 5432 -U app && ssh -p 22 host",
    "mkdir -p a/b && id -u && cp -p x y",
    "curl -o out -u \"$CREDS\" a.io | grep -u a:b",
    // Words that begin like keys.
    "npm_config_cache npm_lifecycle_event npm_package_name",
    "from huggingface_hub import hf_hub_download",
    "key-value-store key-bindings SKU SKIP",
    "sk-learn sk-learn-contrib pypi-attestations secret_manager_client",
    "SG.x M.N.O 12:30:45 12345678:00",
    "eyJ_x 1//2 s3://bucket/key",
    "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "sha256:0123456789abcdef-us-east-1",
];

fn filled(text: &str) -> String {
    text.replace("<T>", "Ab3dEf6hIj9lMn2pQr5tUv8x").replace("<H>", "0123456789abcdef0123456789abcdef")
}

#[test]
fn every_shape_goes_and_what_is_around_it_stays() {
    assert!(GOES.len() >= 60, "{}", GOES.len());
    let redactor = Redactor::default();
    let wrong: Vec<String> = GOES
        .iter()
        .filter_map(|(text, expected)| {
            let clean = redactor.text(&filled(text));
            (clean.as_deref() != Some(expected)).then(|| format!("{text}\n    {clean:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn harmless_texts_stay_byte_for_byte() {
    assert!(STAYS.len() >= 60, "{}", STAYS.len());
    let redactor = Redactor::default();
    let wrong: Vec<String> = STAYS
        .iter()
        .filter_map(|text| redactor.text(text).map(|clean| format!("{text}\n    {clean}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A secret in a text is a secret in a string of JSON, and what is clean stays so.
#[test]
fn what_goes_from_a_text_goes_from_json_and_stays_gone() {
    let redactor = Redactor::default();
    for (text, expected) in GOES {
        let record = format!("[{}]", hooksd_json::python::ascii_string(&filled(text)));
        let value = Value::parse(&record, Dialect::Strict).unwrap();
        let clean = redactor.json(&value).unwrap();
        assert_eq!(clean, format!("[{}]", hooksd_json::python::ascii_string(expected)), "{text}");
        assert_eq!(redactor.text(expected), None, "{text}");
    }
}

#[test]
fn arguments_in_a_list_are_told_by_those_before_them() {
    let table = [
        (r#"["curl","-u","bob:correct"]"#, r#"["curl","-u","[redacted]"]"#),
        (r#"["/usr/bin/mysql","-pcorrect","app"]"#, r#"["/usr/bin/mysql","-p[redacted]","app"]"#),
        (r#"["x","--api-key","correct","y"]"#, r#"["x","--api-key","[redacted]","y"]"#),
        (
            r#"["x","-u","bob:correct","--password-stdin","y"]"#,
            r#"["x","-u","bob:correct","--password-stdin","y"]"#,
        ),
        (
            r#"{"DB_PASS":"correct","session_id":"a1b2c3d4","auth":"oauth2","pin":"4711"}"#,
            r#"{"DB_PASS":"[redacted]","session_id":"a1b2c3d4","auth":"oauth2","pin":"[redacted]"}"#,
        ),
        (
            r#"{"password":"must be at least 8 characters","token_type":"bearer"}"#,
            r#"{"password":"must be at least 8 characters","token_type":"bearer"}"#,
        ),
    ];
    for (text, expected) in table {
        let clean = Redactor::default().json(&Value::parse(text, Dialect::Strict).unwrap());
        assert_eq!(clean.as_deref(), Some(expected));
    }
}

/// Words that people use in names, with values that look like secrets, and addresses with a password in them.
#[test]
fn variables_are_known_by_their_names_and_their_looks() {
    let redactor = Redactor::new([
        ("DB_PASS", "correct-horse"),
        ("AUTH", "Tr0ub4dor"),
        ("PIN", "471147"),
        ("DATABASE_URL", "postgres://app:staple77@db/app"),
        ("DESKTOP_SESSION", "ubuntu"),
        ("HOOKSD_SESSION", "a1b2c3d4"),
        ("GPG_KEY_FILE", "/home/x/key.asc"),
        ("API_KEY", "required"),
        ("KEYBOARD", "us-intl"),
    ]);
    let text = "correct-horse Tr0ub4dor 471147 staple77 ubuntu a1b2c3d4 /home/x/key.asc required us-intl";
    let expected = format!("{0} {0} {0} {0} ubuntu a1b2c3d4 /home/x/key.asc required us-intl", REDACTED);
    assert_eq!(redactor.text(text), Some(expected));
}

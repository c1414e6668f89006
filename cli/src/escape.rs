//! [`Shown`]: foreign text made safe for a terminal.

use std::fmt::{self, Write};

/// Text of a log as it is printed: on one line, and without a character that a terminal acts on or that changes how its
/// neighbours are drawn (control and format characters, bidi controls, line separators, combining marks). Bytes that
/// are not UTF-8 show as `\xff`. What is longer than [`Shown::LONGEST`] characters is cut with `…`, but for `{:#}`.
pub(crate) struct Shown<'t>(pub(crate) &'t [u8]);

impl Shown<'_> {
    /// Characters (or odd bytes) of the text that are shown.
    pub(crate) const LONGEST: usize = 60;
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut room = if f.alternate() { usize::MAX } else { Shown::LONGEST };
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if room == 0 {
                    return f.write_char('…');
                }
                room -= 1;
                match character {
                    // Harmless here, and `escape_debug` would put a backslash before them.
                    '"' | '\'' => f.write_char(character)?,
                    _ => write!(f, "{}", character.escape_debug())?,
                }
            }
            for byte in chunk.invalid() {
                if room == 0 {
                    return f.write_char('…');
                }
                room -= 1;
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// The same JSON in ASCII: `serde_json` leaves DEL, the control characters U+0080 to U+009F and the bidi controls as
/// they are, and a terminal would act on them.
pub(crate) fn ascii_json(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() && character != '\u{7f}' {
            ascii.push(character);
        } else {
            // Outside of strings JSON is ASCII, and inside of them this means the same.
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: impl AsRef<[u8]>) -> String {
        Shown(text.as_ref()).to_string()
    }

    /// Control characters, and the invisible ones among the general punctuation.
    fn acted_on(character: char) -> bool {
        character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    }

    #[test]
    fn plain_text_stays() {
        assert_eq!(shown("GET /a \"b\" 'c' ünïcödé 日本"), "GET /a \"b\" 'c' ünïcödé 日本");
    }

    #[test]
    fn what_a_terminal_acts_on_is_spelled_out() {
        assert_eq!(shown("\u{1b}[31mred"), "\\u{1b}[31mred");
        assert_eq!(shown("a\nb\tc\\n"), "a\\nb\\tc\\\\n");
        assert_eq!(shown("\u{9b}2J"), "\\u{9b}2J");
        assert_eq!(shown("\u{202e}evil\u{2066}\u{200b}"), "\\u{202e}evil\\u{2066}\\u{200b}");
        assert_eq!(shown(b"\xff\xfe ok \xe2\x82"), "\\xff\\xfe ok \\xe2\\x82");
    }

    #[test]
    fn long_text_is_cut() {
        let longest = "x".repeat(Shown::LONGEST);
        assert_eq!(shown(&longest), longest);
        assert_eq!(shown(format!("{longest}x")), format!("{longest}…"));
        assert_eq!(format!("{:#}", Shown(format!("{longest}x").as_bytes())), format!("{longest}x"));
        assert_eq!(shown([0xff; Shown::LONGEST + 1]), format!("{}…", "\\xff".repeat(Shown::LONGEST)));
    }

    proptest! {
        #[test]
        fn nothing_escapes_the_escaping(text in proptest::collection::vec(any::<u8>(), 0..200), more in any::<String>()) {
            for text in [text.as_slice(), more.as_bytes()] {
                let shown = shown(text);
                prop_assert!(!shown.contains(acted_on), "{:?}", shown);
            }
        }

        #[test]
        fn ascii_json_means_the_same(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let ascii = ascii_json(&json);
            prop_assert!(ascii.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            prop_assert_eq!(serde_json::from_str::<String>(&ascii).unwrap(), text);
        }
    }
}

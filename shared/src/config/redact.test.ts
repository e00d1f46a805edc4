import { expect, test } from "bun:test";
import { redacted } from "./redact.ts";

test("an address is shown without the user and password in it, also in a list, and with all else", () => {
  for (const [given, shown] of [
    ["http://me:secret@proxy.example:3128/x", "http://(secret)@proxy.example:3128/x"],
    ["socks5://secret@proxy.example", "socks5://(secret)@proxy.example"],
    ["https://a.example/@me?mail=me@b.example", "https://a.example/@me?mail=me@b.example"],
    [["http://me:secret@a.example", "b.example"], '["http://(secret)@a.example","b.example"]'],
  ] as const)
    expect(redacted(["browser", "proxy"], given)).toBe(shown);
});

test("of a secret no more is shown than its length", () => {
  expect(redacted(["llm", "api_key"], "sk-0123456789")).toBe("(secret, 13 characters)");
});

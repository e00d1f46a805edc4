import { expect, test } from "bun:test";
import { redacted } from "./redact.ts";

test("an address is shown complete except for user and password, in lists too", () => {
  for (const [given, shown] of [
    ["http://me:secret@proxy.example:3128/x", "http://(secret)@proxy.example:3128/x"],
    ["socks5://secret@proxy.example", "socks5://(secret)@proxy.example"],
    ["postgres://me:p@ss@db.example/x", "postgres://(secret)@db.example/x"],
    ["https://a.example?mail=me@b.example", "https://a.example?mail=me@b.example"],
    ["https://a.example/@me?mail=me@b.example", "https://a.example/@me?mail=me@b.example"],
    [["http://me:secret@a.example", "b.example"], '["http://(secret)@a.example","b.example"]'],
    [["http://a:1@a.example", "HTTP://b:2@b.example"], '["http://(secret)@a.example","HTTP://(secret)@b.example"]'],
  ] as const)
    expect(redacted(["browser", "proxy"], given)).toBe(shown);
});

test("only the length of a secret is shown", () => {
  expect(redacted(["llm", "api_key"], "sk-0123456789")).toBe("(secret, 13 characters)");
  expect(redacted(["engine", "other_secret_keys"], ["0123", "4567"])).toBe("(secret, 9 characters)");
  expect(redacted(["engine", "other_secret_keys"], [])).toBe("[]");
});

test.each([
  "api_key",
  "token",
  "secret",
  "client_secret",
  "subject",
  "password",
  "otlp_headers",
  "secret_access_key",
  "session_token",
  "daytona_api_key",
  "VNC_password",
])("what is called %s is a secret, in any table", (key) => {
  expect(redacted(["peers", "far", "auth", key], "0123456789")).toBe("(secret, 10 characters)");
  expect(redacted([key, "file"], "0123456789")).toBe("0123456789");
});

test("the keys that seal a database, and who may be notified where, are secrets; other addresses are none", () => {
  for (const path of [
    ["engine", "secret_key"],
    ["engine", "other_secret_keys"],
    ["notify", "team", "url"],
  ])
    expect(redacted(path, "https://a.example")).toBe("(secret, 17 characters)");
  expect(redacted(["peers", "far", "url"], "https://a.example")).toBe("https://a.example");
});

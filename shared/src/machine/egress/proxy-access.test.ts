import { expect, test } from "bun:test";
import { Socket } from "node:net";
import { createProxyAccess } from "./proxy-access.ts";

const ignore = () => undefined;
const basic = (...words: string[]) => `Basic ${btoa(words.join(":"))}`;

test("a connection counts once, however many requests it carries, until it closes", async () => {
  const access = createProxyAccess(1);
  const [one, other] = [access.admit(ignore), access.admit(ignore)];
  const visitor = access.visitor(basic(one.username, one.password));
  const [first, second] = [new Socket(), new Socket()];
  visitor?.hold(first);
  visitor?.hold(first);
  expect(() => visitor?.hold(second)).toThrow(
    expect.objectContaining({ code: "rate_limited", message: expect.stringContaining("1 connections") }),
  );
  access.visitor(basic(other.username, other.password))?.hold(second);
  const closed = new Promise((done) => first.once("close", done));
  first.destroy();
  await closed;
  const third = new Socket();
  visitor?.hold(third);
  one.revoke();
  expect([second.destroyed, third.destroyed]).toEqual([false, true]);
  expect(access.visitor(basic(one.username, one.password))).toBeUndefined();
});

test("only a user's own name and password together are that user", () => {
  const access = createProxyAccess(9);
  const [one, other] = [access.admit(ignore), access.admit(ignore)];
  expect(access.visitor(basic(one.username, one.password).replace("Basic", "bAsIc "))?.tell).toBe(ignore);
  for (const wrong of [
    undefined,
    "",
    basic(one.username, other.password),
    basic(one.username, ""),
    basic(one.username),
    basic("", one.password),
    basic(one.username, one.password).replace("Basic", "Bearer"),
  ])
    expect([wrong, access.visitor(wrong)]).toEqual([wrong, undefined]);
});

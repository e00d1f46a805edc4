import { expect, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import { identifyBy } from "./identify.ts";

const asked = (authorization?: string) =>
  new Request("http://127.0.0.1/", authorization === undefined ? {} : { headers: { authorization } });

test("without a token everybody is let in, as the one caller there is", () => {
  expect(identifyBy(undefined)(asked())).toBe("local");
  expect(identifyBy(undefined)(asked("Bearer whatever"))).toBe("local");
});

test("with a token the very token lets in, by its scheme in any case, and nothing else does", () => {
  const identify = identifyBy("the-token");
  for (const right of ["Bearer the-token", "bearer the-token"]) expect(identify(asked(right))).toBe("local");
  const wrong = [
    "Bearer wrong",
    "Bearer the-token2",
    "Bearer the-toke",
    "Bearer ",
    "Bearer",
    "Basic the-token",
    "the-token",
    "",
  ];
  for (const one of [undefined, ...wrong]) {
    const refused = () => identify(asked(one));
    expect(refused).toThrow(AppError);
    expect(refused).toThrow("Send this server's token");
  }
});

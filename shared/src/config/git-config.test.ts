import { expect, test } from "bun:test";
import { gitConfig } from "./git-config.ts";
import { sectionsSchema } from "./sections/sections.ts";

const hostsOf = (git: object) =>
  gitConfig({ sections: sectionsSchema.parse({ git }), file: undefined, origins: new Map(), agent: undefined });

test("a host is known by its name, in any case, or is of the kind that its table says", () => {
  for (const [name, table, found] of [
    ["GitHub.com", {}, ["github.com", "github", "x-access-token", "https://api.github.com"]],
    ["gitlab.com", {}, ["gitlab.com", "gitlab", "oauth2", "https://gitlab.com/api/v4"]],
    ["gitea.com", {}, ["gitea.com", "gitea", "oauth2", "https://gitea.com/api/v1"]],
    ["codeberg.org", {}, ["codeberg.org", "gitea", "oauth2", "https://codeberg.org/api/v1"]],
    ["code.example", {}, ["code.example", "git", "git", "https://code.example/api/v1"]],
    ["code.example", { kind: "github" }, ["code.example", "github", "x-access-token", "https://code.example/api/v3"]],
    ["code.example", { kind: "forgejo" }, ["code.example", "gitea", "oauth2", "https://code.example/api/v1"]],
    [
      "work",
      { host: "Code.example:8443", kind: "gitlab", username: "bot", api: "https://api.example/v4//" },
      ["code.example:8443", "gitlab", "bot", "https://api.example/v4"],
    ],
  ] as const) {
    const [{ host, kind, username, api } = {} as never] = hostsOf({ [name]: table });
    expect([host, kind, username, api]).toEqual([...found]);
  }
});

test("two tables of one host are refused, however it is written", () => {
  expect(() => hostsOf({ "code.example": {}, other: { host: "CODE.example" } })).toThrow(
    "[git] names the host code.example twice.",
  );
});

test("a token comes with what it may be used for; a push is asked about, and signed by nobody, unless a table says", () => {
  expect(hostsOf({ "code.example": {} })[0]).toMatchObject({
    ...{ token: undefined, repositories: undefined, push: "ask" },
    author: { name: "Manyhands", email: "manyhands@localhost.invalid" },
  });
  const table = { token: "t", repositories: ["us/*"], push: "never", author: "Ann <ann@a.example>" };
  expect(hostsOf({ "code.example": table })[0]).toMatchObject({
    ...{ token: "t", repositories: ["us/*"], push: "never" },
    author: { name: "Ann", email: "ann@a.example" },
  });
});

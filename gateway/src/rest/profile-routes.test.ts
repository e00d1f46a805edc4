import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { callerNamed, type Identify } from "manyhands/internal/core/caller";
import { profileFiles } from "manyhands/internal/machine/browser-profile/profile-files";
import { createProfileStore } from "manyhands/internal/machine/browser-profile/profile-store";
import { cliForTest } from "../testing/cli.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  const identify: Identify = async ({ headers }) => callerNamed(headers.get("x-user") ?? "local");
  gateway = await startGateway({ app: { identify } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const state = {
  cookies: [{ name: "session", value: "sesame", domain: "shop.example", path: "/" }],
  origins: [],
};

async function keep(home: string, principal: string): Promise<void> {
  const profile = await createProfileStore(profileFiles(home)).open(principal, "main", "c");
  await profile.save(state);
  await profile.release();
}

test("a caller lists and deletes its own profiles, learns nothing of another's, and is shown no cookie", async () => {
  await keep(gateway.home, "ann");
  const send = async (user: string, path = "", method = "GET") => {
    const answer = await fetch(`${gateway.url}/browser/profiles${path}`, { method, headers: { "x-user": user } });
    return { status: answer.status, body: await answer.text() };
  };
  const anns = await send("ann");
  expect(JSON.parse(anns.body)).toEqual({
    profiles: [{ name: "main", sites: ["shop.example"], inUse: false, savedAt: expect.any(String) }],
  });
  expect(anns.body).not.toContain("sesame");
  expect(JSON.parse((await send("bob")).body)).toEqual({ profiles: [] });
  for (const name of ["main", "none", "..%2Fkey"]) expect((await send("bob", `/${name}`, "DELETE")).status).toBe(404);
  expect((await send("ann", "/main", "DELETE")).status).toBe(200);
  expect(JSON.parse((await send("ann")).body)).toEqual({ profiles: [] });
  expect(await readdir(`${gateway.home}/browser-profiles`)).toEqual(["key"]);
});

test("the command line lists profiles and deletes one", async () => {
  await using cli = await cliForTest({});
  await keep(`${cli.cwd}/.manyhands`, "local");
  expect(await cli.run("profiles")).toBe(0);
  expect(cli.out()).toMatch(/main {2}· {2}saved \d{4}-.* {2}· {2}shop\.example/);
  expect(await cli.run("profiles", "delete", "other")).not.toBe(0);
  await keep(`${cli.cwd}/.manyhands`, "ann");
  expect(await cli.run("profiles", "delete", "main", "--principal", "ann")).toBe(0);
  expect(await cli.run("profiles", "delete", "main", "--principal", "ann")).not.toBe(0);
  expect(await cli.run("profiles", "delete", "main")).toBe(0);
  expect(await cli.run("profiles", "list", "--json")).toBe(0);
  expect(cli.out().trim()).toEndWith("[]");
}, 60_000);

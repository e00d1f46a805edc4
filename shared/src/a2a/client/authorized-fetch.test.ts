import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fetch } from "./client-fetch.ts";
import { authorizedFetch, type Credentials, readTls } from "./credentials.ts";
import { readSecret } from "./secret.ts";

const agent = "http://agent.example";
const oauth: Credentials = {
  identity: { kind: "oauth", tokenUrl: "http://id.example/token", clientId: "me", scopes: [] },
};

/** What goes out of a fetch with these credentials, where the agent answers with these statuses. */
function sending(credentials: Credentials, ...statuses: readonly number[]) {
  const left = [...statuses];
  const sent: string[] = [];
  let tokens = 0;
  const inner: Fetch = async (input, init) => {
    if (String(input).endsWith("/token")) return Response.json({ access_token: `t${++tokens}`, expires_in: 3_600 });
    sent.push(new Headers(init?.headers).get("authorization") ?? "none");
    return new Response("x", { status: left.shift() ?? 200 });
  };
  return { sent, fetch: authorizedFetch(inner, credentials, agent) };
}

test("what the credentials show stands before what a call says of itself", async () => {
  const bearer: Credentials = { identity: { kind: "bearer", secret: { text: "mine" } } };
  const { sent, fetch } = sending(bearer);
  await fetch(`${agent}/x`, { headers: { authorization: "Bearer other", "X-A": "b" } });
  expect(sent).toEqual(["Bearer mine"]);
});

test.each<readonly [string, RequestInit, readonly number[], readonly string[], number]>([
  ["a call without a body", {}, [401], ["Bearer t1", "Bearer t2"], 200],
  ["a call whose body is a text", { method: "POST", body: "{}" }, [401], ["Bearer t1", "Bearer t2"], 200],
  ["a call that is refused again", {}, [401, 401, 401], ["Bearer t1", "Bearer t2"], 401],
  ["a call whose body can be read once", { method: "POST", body: new Blob(["x"]).stream() }, [401], ["Bearer t1"], 401],
  ["a call that is forbidden", {}, [403], ["Bearer t1"], 403],
  ["a call that is too much", {}, [429], ["Bearer t1"], 429],
])("%s is repeated with a new token only if that may help", async (_, init, statuses, shown, status) => {
  const { sent, fetch } = sending(oauth, ...statuses);
  expect((await fetch(`${agent}/x`, init)).status).toBe(status);
  expect(sent).toEqual([...shown]);
});

test.each(["https://agent.example", "http://agent.example:81", "http://other.example"])(
  "nothing is shown to %s",
  async (other) => {
    const { sent, fetch } = sending(oauth);
    await fetch(`${other}/x`);
    await fetch(new Request(`${other}/x`));
    expect(sent).toEqual(["none", "none"]);
  },
);

test("files of a certificate are read with the name that it is for, and there may be none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "authorized-"));
  const file = (name: string) => join(folder, name);
  for (const name of ["cert", "key", "ca"]) await Bun.write(file(name), `the ${name}`);
  const paths = { cert: file("cert"), key: file("key"), ca: file("ca") };
  const read = { cert: "the cert", key: "the key", ca: "the ca" };
  expect(await readTls({ ...paths, serverName: "agent" })).toEqual({ ...read, serverName: "agent" });
  expect(await readTls({ ca: file("ca") })).toEqual({ ca: "the ca" });
  expect(await readTls({})).toBeUndefined();
  await Bun.write(file("secret"), " word\n");
  expect(await readSecret({ file: file("secret") })).toBe("word");
  expect(await readSecret({ text: " as it is " })).toBe(" as it is ");
  await Bun.write(file("blank"), " \n");
  for (const none of ["blank", "missing"])
    await expect(readSecret({ file: file(none) })).rejects.toMatchObject({ code: "unauthorized" });
  await rm(folder, { recursive: true });
});

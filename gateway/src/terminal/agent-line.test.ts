import { expect, test } from "bun:test";
import { describeAgent, factsText } from "./agent-line.ts";

const card = (params: object) => ({
  name: "Somebody",
  capabilities: { extensions: [{ uri: "urn:other" }, { uri: "urn:manyhands:agent:1", params }] },
});

test("a running agent is one line with its model and sandbox; what is unknown is said or left out, never an error", async () => {
  const cards: Record<string, Response> = {
    real: Response.json(card({ model: { name: "m\u001b[1m", provider: "p" }, sandbox: "bwrap" })),
    rehearsal: Response.json(card({ model: { name: "m", provider: "rehearsal" }, sandbox: "none" })),
    stranger: Response.json({ name: "Stranger", capabilities: {} }),
    broken: new Response("<html>"),
    refusing: Response.json(card({ model: { name: "m", provider: "p" } }), { status: 401 }),
  };
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => cards[new URL(url).pathname.split("/")[1] ?? ""] ?? new Response(null, { status: 404 }),
  });
  const base = server.url.href.replace(/\/$/, "");
  const facts: Record<string, string> = {
    real: "  ·  model m\\u001b[1m at p  ·  sandbox bwrap",
    rehearsal: "  ·  rehearsal model (scripted; no model is configured)  ·  sandbox none",
    stranger: "  ·  model unknown  ·  sandbox unknown",
    broken: "",
    refusing: "",
  };
  for (const [name, known] of Object.entries(facts))
    expect(await describeAgent(name, `${base}/${name}`, undefined)).toBe(`${name}  ${base}/${name}${known}`);
  await server.stop(true);
  expect(await describeAgent("gone", base, undefined)).toBe(`gone  ${base}`);
});

test("an agent's facts are its title, model and sandbox, each cut to its share of the line", () => {
  const model = { name: "n".repeat(99), provider: "p".repeat(99) };
  const cut = (letter: string, columns: number) => `${letter.repeat(columns - 1)}…`;
  expect(factsText({ title: "t".repeat(99), model, sandbox: "s".repeat(99) })).toBe(
    `${cut("t", 60)} · model ${cut("n", 60)} at ${cut("p", 60)} · sandbox ${cut("s", 20)}`,
  );
  expect(factsText({ title: "T", model: undefined, sandbox: undefined })).toBe("T · model unknown");
});

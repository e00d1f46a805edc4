import { expect, test } from "bun:test";
import { askPerson } from "manyhands/internal/core/tools/question";
import { echo, startGateway, type TestFlow, type TestGateway } from "../../testing/gateway.ts";

async function list(gateway: TestGateway, query: string) {
  const response = await fetch(`${gateway.url}/runs?${query}`);
  return JSON.parse(await response.text());
}

async function start({ url }: TestGateway, name: string, input: string) {
  const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
  const response = await fetch(`${url}/flows/${name}`, { method: "POST", headers, body: JSON.stringify({ input }) });
  return JSON.parse(await response.text()).id as string;
}

/**
 * Asks in one branch while another is at work: the run waits for its caller, though its record says
 * that it runs.
 */
const busy: TestFlow = {
  runnable: { ...echo, name: "busy", kind: "busy" },
  async execute(run) {
    await run.all<unknown>([
      (own) => askPerson(own, { question: "Which?", kind: "question" }),
      (own) => own.step("work", ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject))),
    ]);
    return null;
  },
};

test("runs are listed by the state they show, page by page and with their count", async () => {
  await using gateway = await startGateway({ flows: [busy] });
  const asking = [await start(gateway, "echo", "ask one"), await start(gateway, "echo", "ask two")];
  asking.push(await start(gateway, "busy", "ask three"));
  const asleep = (await (await post(gateway, "sleep")).json()) as { id: string };
  await start(gateway, "echo", "done");
  const seen: string[] = [];
  let cursor = "";
  do {
    const page = await list(gateway, `status=input-required&limit=1${cursor}`);
    expect(page.total).toBe(3);
    seen.push(...page.runs.map(({ id, status }: { id: string; status: string }) => `${id} ${status}`));
    cursor = page.nextCursor === undefined ? "" : `&cursor=${page.nextCursor}`;
  } while (cursor !== "");
  expect(seen).toEqual(asking.toReversed().map((id) => `${id} input-required`));
  for (const status of ["running", "waiting"]) {
    const { runs } = await list(gateway, `status=${status}`);
    expect(runs.every((run: { id: string; status: string }) => run.id === asleep.id && run.status === status)).toBe(
      true,
    );
  }
  expect(await list(gateway, "status=auth-required")).toEqual({ runs: [], total: 0 });
  expect((await list(gateway, "status=completed")).total).toBe(1);
  for (const both of ["status=completed,input-required", "status=completed&status=input-required"])
    expect((await list(gateway, both)).total).toBe(4);
  expect((await fetch(`${gateway.url}/runs?status=lost`)).status).toBe(400);
  expect(await list(gateway, "limit=1&limit=2")).toMatchObject({
    status: 400,
    detail: expect.stringContaining("limit"),
  });
});

function post({ url }: TestGateway, input: string) {
  const headers = { "Content-Type": "application/json" };
  return fetch(`${url}/flows/echo`, { method: "POST", headers, body: JSON.stringify({ input }) });
}

test("a run started at an agent of the same home is listed, and a task that a run gave it is not listed separately", async () => {
  const runnable = { ...echo, type: "agent", name: "helper", kind: "agent:helper", ownKind: "helper" } as const;
  const execute: TestFlow["execute"] = async () => ({ answer: "" });
  await using gateway = await startGateway({ flows: [{ runnable, execute }] });
  const asker = await start(gateway, "helper", "by the gateway");
  const begin = (messageId: string, text: string) =>
    gateway.engine.start({
      kind: "helper",
      principal: "local",
      contextId: "c",
      input: { message: { messageId, parts: [{ type: "text", text }] }, hops: 0 },
      dedupe: { key: JSON.stringify(["helper", "local", messageId]), hash: "" },
      events: [{ type: "message-received", messageId, parts: [{ type: "text", text }] }],
    });
  const { run: own } = await begin(crypto.randomUUID(), "at the agent");
  await begin(`${asker}/3`, "by the gateway");
  for (const query of ["", "name=helper"]) {
    const { runs, total } = await list(gateway, query);
    expect(total).toBe(2);
    expect(runs).toMatchObject([
      { id: own.id, name: "helper", input: "at the agent", status: "queued" },
      { id: asker, name: "helper", input: "by the gateway" },
    ]);
  }
  const { status } = JSON.parse(
    await (await fetch(`${gateway.url}/runs/${own.id}/cancel`, { method: "POST", body: "" })).text(),
  );
  expect(status).toBe("canceled");
});

test("what a search found is shown with some of what stands around it", async () => {
  await using gateway = await startGateway();
  const excerpt = async (input: string) => {
    await start(gateway, "echo", input);
    return (await list(gateway, "q=needle")).runs[0].match.text as string;
  };
  expect(await excerpt("a needle\nalone")).toBe("a needle alone");
  const within = await excerpt(`${"before ".repeat(20)}the needle${" after".repeat(90)}`);
  expect(within).toStartWith("…");
  expect(within).toContain("before the needle after");
  expect(within).toEndWith("…");
  expect(within.length).toBeLessThanOrEqual(202);
  // The word itself is always shown, in whatever case it stands, with some of what is before it.
  expect(await excerpt(`${"b".repeat(100)}NEEDLE`)).toBe(`…${"b".repeat(40)}NEEDLE`);
  expect(await excerpt(`needle${"a".repeat(194)}`)).toBe(`needle${"a".repeat(194)}`);
  expect(await excerpt(`needle${"a".repeat(195)}`)).toBe(`needle${"a".repeat(194)}…`);
  expect(await excerpt(`needle${"a".repeat(193)}😀`)).toBe(`needle${"a".repeat(193)}\ufffd…`);
});

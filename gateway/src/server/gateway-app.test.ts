import { expect, test } from "bun:test";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { localCaller } from "manyhands/internal/core/caller";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const json = { "Content-Type": "application/json" };

function post(
  gateway: TestGateway,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  });
}

async function read(response: Response | Promise<Response>) {
  return JSON.parse(await (await response).text());
}

/** The events of a stream: each with the id it came under. */
async function eventsOf(response: Response): Promise<{ id: number; type: string }[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame.includes("data: "));
  return frames.flatMap((frame) => {
    const data = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "");
    return data.event === undefined ? [] : [{ id: Number(/^id: (\d+)$/m.exec(frame)?.[1]), type: data.event.type }];
  });
}

test("a flow is accepted with its location, and its end has the answer", async () => {
  await using gateway = await startGateway();
  const started = await post(gateway, "/flows/echo", { input: "hello" });
  expect(started.status).toBe(202);
  const { runId } = await read(started);
  expect(started.headers.get("Location")).toBe(`/runs/${runId}`);
  await (await fetch(`${gateway.url}/runs/${runId}/events`)).text();
  const run = await read(fetch(`${gateway.url}/runs/${runId}`));
  expect(run).toMatchObject({ id: runId, name: "echo", status: "completed", input: "hello", answer: "hello" });
});

test("behind a proxy that removes a path, the location has it; a caller inside gets it without", async () => {
  await using gateway = await startGateway({ app: { publicUrl: "https://agents.example.com/team" } });
  const locationFor = async (headers: Record<string, string>) => {
    const started = await post(gateway, "/flows/echo", { input: "hello" }, headers);
    const { runId } = await read(started);
    return started.headers.get("Location")?.replace(runId, "ID");
  };
  expect(await locationFor({ Host: "agents.example.com" })).toBe("/team/runs/ID");
  expect(await locationFor({})).toBe("/runs/ID");
});

test("a caller that prefers to wait gets the result, or the run if it takes longer", async () => {
  await using gateway = await startGateway();
  const done = await post(gateway, "/flows/echo", { input: "hello" }, { Prefer: "wait=20" });
  const { id, runId, answer } = await read(done);
  expect([done.status, runId, answer]).toEqual([200, id, "hello"]);
  const asking = await post(gateway, "/flows/echo", { input: "ask me" }, { Prefer: "respond-async, wait=20" });
  expect([asking.status, (await read(asking)).question]).toEqual([200, "Really?"]);
  const long = await post(gateway, "/flows/echo", { input: "sleep" }, { Prefer: "wait=0" });
  expect([long.status, long.headers.get("Preference-Applied")]).toEqual([202, "wait=0"]);
  const wrong = await post(gateway, "/flows/echo", { input: "sleep" }, { Prefer: "wait=soon" });
  expect([wrong.status, (await read(wrong)).code]).toEqual([400, "invalid_input"]);
});

test("requests with one Idempotency-Key start one run, concurrently and after its end too; other content under it is refused", async () => {
  await using gateway = await startGateway();
  const key = { "Idempotency-Key": "key-1" };
  const both = await Promise.all([1, 2].map(() => post(gateway, "/flows/echo", { input: "hello" }, key)));
  const ids = await Promise.all(both.map(async (one) => (await read(one)).runId));
  expect(new Set(ids).size).toBe(1);
  await (await fetch(`${gateway.url}/runs/${ids[0]}/events`)).text();
  const late = await read(post(gateway, "/flows/echo", { input: "hello" }, key));
  expect([late.runId, late.status]).toEqual([ids[0], "completed"]);
  const other = await post(gateway, "/flows/echo", { input: "other" }, key);
  expect([other.status, (await read(other)).code]).toEqual([409, "conflict"]);
});

test("an answer repeated under its key counts once, another one under it is refused, and a run that has ended accepts none", async () => {
  await using gateway = await startGateway();
  const asking = await post(gateway, "/flows/echo", { input: "ask me" }, { Prefer: "wait=20" });
  const { id } = await read(asking);
  const key = { "Idempotency-Key": "a-1" };
  const answers = await Promise.all([1, 2].map(() => post(gateway, `/runs/${id}/answer`, { input: "yes" }, key)));
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  const other = await post(gateway, `/runs/${id}/answer`, { input: "no" }, key);
  expect([other.status, (await read(other)).code]).toEqual([409, "conflict"]);
  const events = await eventsOf(await fetch(`${gateway.url}/runs/${id}/events`));
  // The task, and one answer.
  expect(events.filter(({ type }) => type === "message-received").length).toBe(2);
  const late = await post(gateway, `/runs/${id}/answer`, { input: "no" });
  expect([late.status, (await read(late)).code]).toEqual([409, "run_ended"]);
});

test("cancelling ends a run, twice is harmless, after any other end it is refused", async () => {
  await using gateway = await startGateway();
  const { runId } = await read(post(gateway, "/flows/echo", { input: "sleep" }));
  const first = await post(gateway, `/runs/${runId}/cancel`, {});
  expect([first.status, (await read(first)).status]).toEqual([200, "canceled"]);
  expect((await post(gateway, `/runs/${runId}/cancel`, {})).status).toBe(200);
  const done = await read(post(gateway, "/flows/echo", { input: "x" }, { Prefer: "wait=20" }));
  expect((await post(gateway, `/runs/${done.id}/cancel`, {})).status).toBe(409);
});

test("a stream has every event in order, and continues after the last one a reader has", async () => {
  await using gateway = await startGateway();
  const { id } = await read(post(gateway, "/flows/echo", { input: "hello" }, { Prefer: "wait=20" }));
  const all = await eventsOf(await fetch(`${gateway.url}/runs/${id}/events`));
  expect(all.map((event) => event.id)).toEqual(all.map((_, index) => index + 1));
  expect([all[0]?.type, all.at(-1)?.type]).toEqual(["message-received", "run-ended"]);
  const rest = await eventsOf(await fetch(`${gateway.url}/runs/${id}/events`, { headers: { "Last-Event-ID": "2" } }));
  expect(rest).toEqual(all.slice(2));
  expect(await eventsOf(await fetch(`${gateway.url}/runs/${id}/events?after=3`))).toEqual(all.slice(3));
  expect((await fetch(`${gateway.url}/runs/${id}/events?after=x`)).status).toBe(400);
});

test("files are sent by content and returned by address", async () => {
  await using gateway = await startGateway();
  const bytes = Buffer.from("a,b\n1,2\n").toString("base64");
  const input = { text: "take this", files: [{ name: "../data.csv", mediaType: "text/csv", bytes }] };
  const { files } = await read(post(gateway, "/flows/echo", { input }, { Prefer: "wait=20" }));
  expect(files).toMatchObject([{ name: "data.csv", mediaType: "text/csv", size: 8 }]);
  expect(await (await fetch(files[0].url)).text()).toBe("a,b\n1,2\n");
});

test("a file that is not there, or is another's, is not found", async () => {
  await using gateway = await startGateway({ token: "t" });
  const as = (name: string) => ({ Authorization: `Bearer t${name}` });
  const files = [{ name: "a.txt", bytes: Buffer.from("ann's").toString("base64") }];
  const prefer = { Prefer: "wait=10" };
  const { files: made } = await read(
    post(gateway, "/flows/echo", { input: { text: "hi", files } }, { ...as("ann"), ...prefer }),
  );
  const own = await fetch(made[0].url, { headers: as("ann") });
  expect([own.status, await own.text()]).toEqual([200, "ann's"]);
  const nowhere = `${gateway.url}/artifacts/${"0".repeat(64)}/a.txt`;
  const answers = await Promise.all([made[0].url, nowhere].map((url) => fetch(url, { headers: as("bob") })));
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  const [foreign, missing] = await Promise.all(answers.map(read));
  expect(foreign).toMatchObject({ code: "not_found", detail: "There is no such file." });
  expect(foreign).toEqual(missing);
});

test("one run is the same run through every adapter", async () => {
  await using gateway = await startGateway();
  const client = await createA2aClient(`${gateway.url}/a2a/echo`);
  expect(client.card.name).toBe("Echo");
  const asking = await client.send({ text: "ask me", messageId: "m-1" });
  const { runs } = await read(fetch(`${gateway.url}/runs?name=echo`));
  expect(runs).toMatchObject([{ id: asking.id, status: "input-required", question: "Really?" }]);
  await post(gateway, `/runs/${asking.id}/answer`, { input: "yes" });
  for await (const _ of client.watch(asking.id));
  expect((await client.get(asking.id)).artifacts.at(-1)?.name).toBe("answer");
  const refused = client.send({ parts: [], messageId: "m-2" });
  await expect(refused).rejects.toMatchObject({ code: "invalid_input" });
});

test("runs are listed page by page, by name and status, each caller's own", async () => {
  await using gateway = await startGateway({ token: "secret" });
  const as = (who: string) => ({ authorization: `Bearer secret ${who}` });
  for (const input of ["one", "two", "fail three"])
    await post(gateway, "/flows/echo", { input }, { ...as("ann"), Prefer: "wait=20" });
  const list = (query: string, who = "ann") => read(fetch(`${gateway.url}/runs?${query}`, { headers: as(who) }));
  const first = await list("limit=2");
  expect([first.runs.length, first.total]).toEqual([2, 3]);
  const second = await list(`limit=2&cursor=${first.nextCursor}`);
  expect(second.runs.map((run: { input: string }) => run.input)).toEqual(["one"]);
  expect(await list("status=failed")).toMatchObject({ runs: [{ error: { code: "task_failed" } }], total: 1 });
  expect(await list("", "bob")).toEqual({ runs: [], total: 0 });
  const foreign = await fetch(`${gateway.url}/runs/${first.runs[0].id}`, { headers: as("bob") });
  const none = await fetch(`${gateway.url}/runs/no-such-run`, { headers: as("bob") });
  expect([foreign.status, none.status]).toEqual([404, 404]);
  expect((await fetch(`${gateway.url}/runs`)).status).toBe(401);
});

test("an invalid request is refused with its code and the field", async () => {
  await using gateway = await startGateway();
  const refusals = [
    [await post(gateway, "/flows/nothing", { input: "x" }), 404, "not_found", "Known: echo"],
    [await post(gateway, "/flows/echo", { input: "" }), 400, "invalid_input", "body.input"],
    [await post(gateway, "/flows/echo", { input: { data: 1 } }), 400, "invalid_input", "say what to echo"],
    [await post(gateway, "/flows/echo", { inputs: "x" }), 400, "invalid_input", "body"],
    [await post(gateway, "/flows/echo", { input: "x" }, { "Content-Type": "text/plain" }), 415, "unsupported", "JSON"],
    [await post(gateway, "/agents", { url: "file:///etc/passwd" }), 400, "invalid_input", "body.url"],
    [await fetch(`${gateway.url}/runs?limit=0`), 400, "invalid_input", "query.limit"],
    [await fetch(`${gateway.url}/nothing`), 404, "not_found", "/docs"],
    [await fetch(`${gateway.url}/runs`, { method: "PUT" }), 405, "unsupported", "takes GET"],
    [await fetch(`${gateway.url}/console/none.js`), 404, "not_found", "/docs"],
    [await fetch(`${gateway.url}/console/none.js`, { method: "POST" }), 405, "unsupported", "takes GET"],
    [await post(gateway, "/flows/echo", { input: "x".repeat(11_000_000) }), 413, "too_large", "10"],
  ] as const;
  for (const [response, status, code, word] of refusals) {
    const body = await read(response);
    expect([response.status, body.status, body.code]).toEqual([status, status, code]);
    expect(body.detail).toContain(word);
  }
  const deep = `{"input":{"data":${"[".repeat(200_000)}${"]".repeat(200_000)}}}`;
  const nested = await fetch(`${gateway.url}/flows/echo`, { method: "POST", headers: json, body: deep });
  expect([nested.status, (await read(nested)).code]).toEqual([400, "invalid_input"]);
});

test("the metrics count the runs of everything the gateway runs", async () => {
  await using gateway = await startGateway();
  await post(gateway, "/flows/echo", { input: "hello" }, { Prefer: "wait=20" });
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(text).toContain('manyhands_runs{agent="gateway",status="completed"} 1');
  expect(text).toContain('manyhands_http_requests_total{agent="gateway",route="/flows/:name",status="200"} 1');
});

test("what goes wrong inside is counted", async () => {
  let isBroken = true;
  const identify = () => {
    if (isBroken) throw new TypeError("a bug");
    return localCaller;
  };
  await using gateway = await startGateway({ app: { identify, report: () => undefined } });
  expect((await fetch(`${gateway.url}/runs`)).status).toBe(500);
  isBroken = false;
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(text).toMatch(/^manyhands_internal_failures_total\{agent="gateway"\} 1$/m);
});

test("pages of other sites and other host names are refused", async () => {
  await using gateway = await startGateway();
  const foreign = [{ Host: "evil.example" }, { Origin: "http://evil.example" }];
  for (const headers of foreign) {
    const response = await fetch(`${gateway.url}/runs`, { headers });
    expect([response.status, (await read(response)).code]).toEqual([403, "forbidden"]);
  }
});

test("the description of the API lists every operation and its errors", async () => {
  await using gateway = await startGateway();
  const document = await read(fetch(`${gateway.url}/openapi.json`));
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths).sort()).toEqual([
    "/agents",
    "/agents/{name}",
    "/browser/profiles",
    "/browser/profiles/{name}",
    "/changes",
    "/conversations/{id}",
    "/deliveries",
    "/deliveries/{id}",
    "/deliveries/{id}/retry",
    "/flows",
    "/flows/{name}",
    "/memory",
    "/memory/{id}",
    "/notify",
    "/notify/{name}/test",
    "/runs",
    "/runs/{id}",
    "/runs/{id}/answer",
    "/runs/{id}/archive",
    "/runs/{id}/cancel",
    "/runs/{id}/events",
    "/runs/{id}/events/{seq}",
    "/runs/{id}/events/{seq}/request",
    "/runs/{id}/export",
    "/runs/{id}/file",
    "/runs/{id}/files",
    "/runs/{id}/live",
    "/runs/{id}/notify",
    "/runs/{id}/rerun",
    "/runs/{id}/resume",
    "/runs/{id}/shares",
    "/runs/{id}/tree",
    "/schedules",
    "/schedules/{name}",
    "/schedules/{name}/pause",
    "/schedules/{name}/resume",
    "/schedules/{name}/run",
    "/settings",
    "/settings/flows",
    "/settings/flows/{name}",
    "/settings/flows/{name}/check",
    "/settings/mcp-servers",
    "/settings/mcp-servers/{name}",
    "/settings/mcp-servers/{name}/approve",
    "/settings/mcp-servers/{name}/enable",
    "/settings/mcp-servers/{name}/sign-in",
    "/settings/mcp-servers/{name}/test",
    "/settings/model",
    "/settings/model/test",
    "/settings/sandbox",
    "/settings/sandbox/test",
    "/settings/skills",
    "/settings/skills/{name}",
    "/settings/skills/{name}/approve",
    "/settings/tokens",
    "/settings/tokens/{name}",
    "/shared",
    "/shared/artifacts/{sha256}/{name}",
    "/shared/runs/{id}",
    "/shared/runs/{id}/events",
    "/shared/runs/{id}/events/{seq}",
    "/shared/runs/{id}/tree",
    "/shares",
    "/shares/{id}",
    "/triggers",
    "/triggers/{name}",
    "/triggers/{name}/pause",
    "/triggers/{name}/resume",
    "/usage",
  ]);
  expect(document.components.schemas).toHaveProperty("Run.properties.status");
  expect(document.paths["/flows/{name}"].post.responses["409"].content).toHaveProperty("application/problem+json");
});

test("people can read the API on a page that runs no script and loads nothing", async () => {
  await using gateway = await startGateway();
  const response = await fetch(`${gateway.url}/docs`);
  const page = await response.text();
  expect(page).toContain("POST</span> <code>/flows/{name}</code>");
  expect(page).not.toContain("<script");
  expect(response.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  expect((await fetch(`${gateway.url}/style.css`)).headers.get("Content-Type")).toContain("text/css");
});

test("a page of a listed site may call every adapter; one of another is refused", async () => {
  const page = "https://app.example";
  await using gateway = await startGateway({ app: { cors: [page] } });
  const ask = (path: string, origin: string) =>
    fetch(`${gateway.url}${path}`, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST" },
    });
  for (const path of ["/flows/echo", "/a2a/echo", "/v1/chat/completions"]) {
    const allowed = await ask(path, page);
    expect([allowed.status, allowed.headers.get("Access-Control-Allow-Origin")]).toEqual([204, page]);
    expect((await ask(path, "https://evil.example")).status).toBe(403);
  }
  for (const path of ["/flows", "/a2a/echo/.well-known/agent-card.json"]) {
    const read = await fetch(`${gateway.url}${path}`, { headers: { Origin: page } });
    expect([read.status, read.headers.get("Access-Control-Allow-Origin")]).toEqual([200, page]);
  }
});

test("every address refuses a method that it does not take, and says which it takes", async () => {
  await using gateway = await startGateway({});
  const routes = gateway.routes.filter(({ method, path }) => method !== "ALL" && !path.includes("*"));
  expect(routes.length).toBeGreaterThan(60);
  const others: string[] = [];
  for (const { method, path } of routes) {
    const at = path
      .replace(":card{", "agent-card.json{")
      .replace(":file{", "x.js{")
      .replace(/:sha256\{.*\}/, "0".repeat(64))
      .replace(/\{.*\}/, "")
      .replaceAll(/:\w+/g, "x");
    const headers = { Host: new URL(gateway.url).host };
    const response = await gateway.fetch(new Request(`${gateway.url}${at}`, { method: "PROPFIND", headers }));
    const allow = response.headers.get("Allow")?.split(", ") ?? [];
    const body = (await response.json()) as { readonly detail?: string; readonly error?: { readonly message: string } };
    const said = body.detail ?? body.error?.message;
    if (response.status !== 405 || !allow.includes(method) || said !== `This address takes ${allow.join(", ")}.`)
      others.push(`${response.status} ${method} ${at}`);
  }
  expect(others).toEqual([]);
});

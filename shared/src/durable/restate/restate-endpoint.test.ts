import { expect, spyOn, test } from "bun:test";
import { connect } from "node:http2";
import { silentLog } from "../../core/runs/engine.ts";
import { freePort } from "../../http/free-port.ts";
import { until } from "../../testing/durable/until.ts";
import { RestateEndpoint, type RestateEndpointOptions } from "./restate-endpoint.ts";

/** A key of nobody who would sign anything here. */
const publicKey = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";

/** A Restate that is told of workers, and refuses the first `refusals` times; with an endpoint. */
function endpointForTest(options: Partial<RestateEndpointOptions> = {}, refusals = 0) {
  const told: { readonly uri: string; readonly force: boolean }[] = [];
  let left = refusals;
  const admin = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      expect(`${request.method} ${new URL(request.url).pathname}`).toBe("POST /deployments");
      told.push((await request.json()) as (typeof told)[number]);
      return left-- > 0 ? new Response("Not yet.", { status: 503 }) : Response.json({});
    },
  });
  const endpoint = new RestateEndpoint({ admin: `http://127.0.0.1:${admin.port}`, prefix: "p", ...options });
  return {
    ...{ endpoint, told, port: options.port },
    async [Symbol.asyncDispose]() {
      await endpoint.close();
      await admin.stop(true);
    },
  };
}

/** What a worker answers when it is asked what it serves. */
async function discover(uri: string) {
  const session = connect(uri);
  try {
    const accept = "application/vnd.restate.endpointmanifest.v4+json";
    const stream = session.request({ ":path": "/discover", accept });
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number;
      text: string;
      atOnce: number | undefined;
    }>();
    let status = 0;
    let text = "";
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    stream.on("data", (chunk) => {
      text += chunk;
    });
    stream
      .on("end", () => resolve({ status, text, atOnce: session.remoteSettings.maxConcurrentStreams }))
      .on("error", reject);
    stream.end();
    return await promise;
  } finally {
    session.destroy();
  }
}

test("each kind has a name of its own at Restate, whatever characters it has", () => {
  const { endpoint } = endpointForTest();
  const kinds = ["flow", "a/b", "a_b", "a_2fb", "a b", "ü", "a.b-c"];
  const names = kinds.map((kind) => endpoint.serviceOf(kind));
  expect(new Set(names).size).toBe(kinds.length);
  for (const name of names) expect(name).toMatch(/^p\.[A-Za-z0-9._-]+$/);
  expect(names[0]).toBe("p.flow");
});

test("Restate is told of all kinds named together once, again for a new one, and until it has understood", async () => {
  await using of = endpointForTest({}, 2);
  await Promise.all([of.endpoint.serve(["one"]), of.endpoint.serve(["two", "one"])]);
  expect(of.told).toHaveLength(3);
  const uri = of.told[0]?.uri ?? "";
  expect(of.told).toEqual(Array.from({ length: 3 }, () => ({ uri, force: true })));
  await of.endpoint.serve(["two"]);
  expect(of.told).toHaveLength(3);
  const { status, text, atOnce } = await discover(uri);
  // A connection takes no more calls at once than it takes at all.
  expect(atOnce).toBe(16);
  const { services } = JSON.parse(text);
  expect([status, services.map(({ name }: { name: string }) => name).toSorted()]).toEqual([200, ["p.one", "p.two"]]);
  expect(services[0]).toMatchObject({ ty: "VIRTUAL_OBJECT", handlers: [{ name: "drive", ty: "EXCLUSIVE" }] });
  // A life may say nothing for as long as it goes on, and one that is lost is soon begun again.
  expect(services[0]).toMatchObject({
    ...{ inactivityTimeout: 365 * 86_400_000, abortTimeout: 365 * 86_400_000, idempotencyRetention: 1_000 },
    ...{ retryPolicyInitialInterval: 20, retryPolicyMaxInterval: 2_000, retryPolicyMaxAttempts: 30 },
    ...{ retryPolicyExponentiationFactor: 2, journalRetention: 0 },
    retryPolicyOnMaxAttempts: "KILL",
  });
  await of.endpoint.serve(["three"]);
  expect(of.told).toHaveLength(4);
  expect((await discover(uri)).text).toContain("p.three");
});

test("where keys of Restate are given, nobody else learns or begins anything here", async () => {
  const publicUrl = "http://replicas.example:9080";
  await using open = endpointForTest();
  await open.endpoint.serve(["one"]);
  await using of = endpointForTest({ identityKeys: [publicKey], publicUrl, port: 0 });
  await of.endpoint.serve(["one"]);
  expect(of.told[0]?.uri).toBe(publicUrl);
  await using keyed = endpointForTest({ identityKeys: [publicKey] });
  await keyed.endpoint.serve(["one"]);
  expect((await discover(open.told[0]?.uri ?? "")).status).toBe(200);
  const refused = await discover(keyed.told[0]?.uri ?? "");
  expect([refused.status, refused.text.includes("p.one")]).toEqual([401, false]);
});

/** A port where something else listens. */
function takenPort() {
  const holder = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  return { port: Number(holder.port), free: () => holder.stop(true), [Symbol.asyncDispose]: () => holder.stop(true) };
}

test("an endpoint whose port is taken says so in the log and listens once it is free", async () => {
  await using taken = takenPort();
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (...said: unknown[]) => void warnings.push(said) };
  await using of = endpointForTest({ port: taken.port, log });
  const served = of.endpoint.serve(["one"]);
  await until(() => warnings.length > 0);
  expect(JSON.stringify(warnings)).toContain("EADDRINUSE");
  expect(of.told).toEqual([]);
  await taken.free();
  await served;
  expect(of.told).toEqual([{ uri: `http://127.0.0.1:${taken.port}`, force: true }]);
});

test("an endpoint that is closed while its port is taken waits no longer", async () => {
  await using taken = takenPort();
  const refused = Promise.withResolvers<void>();
  const log = { ...silentLog, warn: () => refused.resolve() };
  await using of = endpointForTest({ port: taken.port, log });
  const served = of.endpoint.serve(["one"]);
  await refused.promise;
  await of.endpoint.close();
  await served;
  expect(of.told).toEqual([]);
});

test("a taken port, one that is none and a key that is none are refused when the endpoint is opened", async () => {
  await using taken = takenPort();
  for (const [options, message] of [
    [{ port: taken.port }, `127.0.0.1:${taken.port} (EADDRINUSE)`],
    [{ port: 70_000 }, "127.0.0.1:70000"],
    [{ identityKeys: ["publickeyv1_abc"] }, "engine.restate.identity_keys"],
  ] as const) {
    await using of = endpointForTest(options);
    await expect(of.endpoint.listen()).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(message),
    });
  }
});

test("an open endpoint asks for patience until Restate is told what it serves", async () => {
  await using of = endpointForTest({ port: freePort() });
  await of.endpoint.listen();
  await of.endpoint.listen();
  const uri = `http://127.0.0.1:${of.port}`;
  expect((await discover(uri)).status).toBe(503);
  await of.endpoint.serve(["one"]);
  expect(of.told).toEqual([{ uri, force: true }]);
  expect((await discover(uri)).status).toBe(200);
});

test("a Restate that takes what it is told and never answers is told again after ten seconds", async () => {
  let told = 0;
  const answer = () => (++told > 1 ? Response.json({}) : new Promise<Response>(() => undefined));
  const admin = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const waits: number[] = [];
  using _ = spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout(waits.push(ms) === 1 ? 20 : ms));
  const endpoint = new RestateEndpoint({ admin: `http://127.0.0.1:${admin.port}`, prefix: "p" });
  await endpoint.serve(["one"]);
  expect([told, waits]).toEqual([2, [10_000, 10_000]]);
  await endpoint.close();
  await admin.stop(true);
}, 10_000);

test("a kind that is named while Restate is being told of others is told of too, before who named it goes on", async () => {
  const gate = Promise.withResolvers<void>();
  let told = 0;
  const answer = async () => {
    if (++told === 1) await gate.promise;
    return Response.json({});
  };
  const admin = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  const endpoint = new RestateEndpoint({ admin: `http://127.0.0.1:${admin.port}`, prefix: "p" });
  const first = endpoint.serve(["one"]);
  await until(() => told === 1);
  const second = endpoint.serve(["two"]);
  gate.resolve();
  await second;
  expect(told).toBe(2);
  await first;
  await endpoint.close();
  await admin.stop(true);
});

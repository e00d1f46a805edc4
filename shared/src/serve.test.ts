import { expect, test } from "bun:test";
import { serve } from "./serve.ts";

test("it listens on loopback, finishes what runs and closes what was used, once", async () => {
  const { promise: release, resolve } = Promise.withResolvers<Response>();
  const closed: string[] = [];
  const served = serve(
    { fetch: ({ url }) => (url.endsWith("/slow") ? release : new Response("ok")) },
    { port: 0, close: async () => void closed.push("engine") },
  );
  expect(served.url.hostname).toBe("127.0.0.1");
  const slow = fetch(new URL("/slow", served.url));
  expect(await (await fetch(served.url)).text()).toBe("ok");
  const stopped = Promise.all([served.stop(), served.stop()]);
  resolve(new Response("finished"));
  expect(await (await slow).text()).toBe("finished");
  await stopped;
  expect(closed).toEqual(["engine"]);
  expect(fetch(served.url)).rejects.toThrow();
});

test("a request that does not end is cut after the grace", async () => {
  const served = serve({ fetch: () => new Promise<Response>(() => undefined) }, { port: 0, graceMs: 50 });
  const hanging = fetch(served.url).then(
    () => "answered",
    () => "cut",
  );
  await Bun.sleep(20);
  const before = performance.now();
  await served.stop();
  expect(await hanging).toBe("cut");
  expect(performance.now() - before).toBeLessThan(1_000);
});

test("SIGTERM stops a process that serves, with exit code 0", async () => {
  const code = `
    import { serve } from ${JSON.stringify(import.meta.resolve("./serve.ts"))};
    const { url } = serve({ fetch: () => new Response("ok") }, { port: 0, close: async () => console.log("closed") });
    console.log(url.href);`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  try {
    const reader = child.stdout.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    expect(await (await fetch(first.trim())).text()).toBe("ok");
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("closed\n");
  } finally {
    child.kill();
  }
});

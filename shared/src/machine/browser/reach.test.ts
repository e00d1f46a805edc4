import { afterAll, expect, test } from "bun:test";
import type { Page } from "playwright";
import { AppError } from "../../core/errors.ts";
import { browsersForTest } from "../../testing/browser/browsers.ts";

const reached: string[] = [];
const inside = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  websocket: { message: () => undefined },
  fetch(request, server) {
    reached.push(new URL(request.url).pathname);
    if (server.upgrade(request)) return undefined;
    return new Response("SECRET", { headers: { "access-control-allow-origin": "*" } });
  },
});
const secret = `127.0.0.1:${inside.port}`;

const outside = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  websocket: { message: (socket, text) => void socket.send(`echo ${text}`) },
  fetch(request, server) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/ws" && server.upgrade(request)) return undefined;
    if (pathname === "/to") return Response.redirect(searchParams.get("url") ?? "");
    if (pathname === "/sw.js" || pathname === "/worker.js") return script(worker);
    return html(`<title>${pathname}</title><h1>open</h1>`);
  },
});
const open = `127.0.0.1:${outside.port}`;
const base = `http://${open}`;

const worker = `
const get = () => fetch("http://${secret}/worker").then((r) => r.text(), () => "blocked");
onmessage = () => get().then(postMessage);
oninstall = (event) => event.waitUntil(get());
`;

const lab = await browsersForTest([open]);
const browsing = await lab.open("reach");
const options = { signal: new AbortController().signal, timeoutMs: 8_000 };
const act = <T>(run: (page: Page) => Promise<T>) => browsing.act(run, options);
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await Promise.all([inside.stop(true), outside.stop(true)]);
});

function script(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/javascript" } });
}

function html(body: string): Response {
  return new Response(body, { headers: { "content-type": "text/html" } });
}

/** Scripts of a page, each of which returns "blocked" or the response. */
const socketSays = (url: string) => `new Promise((resolve) => {
  const socket = new WebSocket("${url}");
  socket.onopen = () => socket.send("hello");
  socket.onmessage = ({ data }) => resolve(data);
  socket.onerror = () => resolve("blocked");
})`;
const fetchSays = (url: string) =>
  `fetch("${url}").then((answer) => answer.status === 403 ? "blocked" : answer.text(), () => "blocked")`;
const workerSays = `new Promise((resolve) => {
  const made = new Worker("/worker.js");
  made.onmessage = ({ data }) => resolve(data);
  made.postMessage("");
})`;
const frameSays = (url: string) => `new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.onload = () => resolve("loaded");
  frame.src = "${url}";
  document.body.append(frame);
})`;

/** The text of the page at which a navigation ends, or the code of its refusal. */
const arrive = (url: string) =>
  act(async (page) => {
    await page.goto(url);
    return await page.locator("body").textContent();
  }).catch((error) => (error instanceof AppError ? error.code : error.message.split(" at ")[0]));

test("a web page opens, and its WebSocket too", async () => {
  expect(await arrive(`${base}/page`)).toBe("open");
  const answer = await act((page) => page.evaluate(socketSays(`ws://${open}/ws`)));
  expect(answer).toBe("echo hello");
});

test("a redirect from the web to this machine or to a metadata service is refused with a reason", async () => {
  for (const target of [
    `http://${secret}/redirect`,
    "http://169.254.169.254/latest",
    `http://localhost:${inside.port}/`,
  ]) {
    const text = await arrive(`${base}/to?url=${encodeURIComponent(target)}`);
    expect(text).toContain("403 Forbidden");
    expect(text).toContain("not public");
  }
  expect(browsing.notices().join("\n")).toContain(`GET http://${secret}/redirect was refused`);
  expect(reached).toEqual([]);
});

test("a frame, a script's request, a worker and a WebSocket get nothing either", async () => {
  await arrive(`${base}/page`);
  const framed = await act(async (page) => {
    await page.evaluate(frameSays(`http://${secret}/frame`));
    return await page.frameLocator("iframe").locator("body").textContent();
  });
  expect(framed).toContain("403 Forbidden");
  expect(await act((page) => page.evaluate(fetchSays(`http://${secret}/fetch`)))).toBe("blocked");
  expect(await act((page) => page.evaluate(fetchSays(`https://${secret}/fetch`)))).toBe("blocked");
  expect(await act((page) => page.evaluate(socketSays(`ws://${secret}/ws`)))).toBe("blocked");
  expect(await act((page) => page.evaluate(workerSays))).toMatch(/403|blocked/);
  await act((page) => page.evaluate(`navigator.serviceWorker.register("/sw.js").then(() => 1, () => 0)`));
  expect(await act(async (page) => page.context().serviceWorkers())).toEqual([]);
  expect(reached).toEqual([]);
});

test("files, the browser's own pages and data URLs are refused, and the next page still opens", async () => {
  for (const url of ["file:///etc/passwd", "chrome://version", "data:text/html,hello", "about:version"]) {
    // A browser without windows has no pages of its own: the address is none, which its error page
    // says.
    const [code, at] = [await arrive(url), browsing.active().page.url()];
    if (code === "goto: net::ERR_INVALID_URL")
      expect([url, at]).toEqual(["chrome://version", "chrome-error://chromewebdata/"]);
    else expect([code, at]).toEqual(["forbidden", "about:blank"]);
  }
  expect(await arrive(`${base}/page`)).toBe("open");
  for (const url of [
    "file:///etc/passwd",
    "data:text/html,hello",
    "chrome://version",
    "view-source:file:///etc/passwd",
  ]) {
    await act((page) => page.evaluate(`location.href = "${url}"`).catch(() => undefined));
    expect(browsing.active().page.url()).toBe(`${base}/page`);
  }
});

test("pages that a page creates itself can be opened", async () => {
  await arrive(`${base}/page`);
  const text = await act(async (page) => {
    await page.evaluate(`location.href = URL.createObjectURL(new Blob(["made here"], { type: "text/html" }))`);
    await page.waitForURL(/^blob:/);
    return await page.locator("body").textContent();
  });
  expect(text).toBe("made here");
});

test("only the conversation's own requests leave this machine, and no request without its credentials", async () => {
  const left = lab.requests.filter(({ refused }) => refused === undefined);
  const hosts = new Set(left.map(({ method, target }) => (method === "CONNECT" ? target : new URL(target).host)));
  expect([...hosts]).toEqual([open]);
  const greeting = lab.requests.find(({ target }) => target === "http://proxy.invalid/");
  expect(greeting?.refused).toContain("credentials");
});

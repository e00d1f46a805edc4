import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page, Request } from "playwright";
import { createRequestHops, type RequestHop } from "./request-hops.ts";

type Handler = (socket: unknown) => Promise<void>;

/** A page whose browser pauses requests, and what it was told of them. */
function pageForTest({ speaks = true } = {}) {
  const told: string[] = [];
  const paused: object[] = [];
  const session = Object.assign(new EventEmitter(), {
    async send(method: string, { requestId = "", errorReason = "", patterns = [] as object[] } = {}) {
      told.push([method, requestId, errorReason].filter((part) => part !== "").join(" "));
      if (patterns.length > 0) paused.push(...patterns);
    },
    detach: async () => undefined,
  });
  const main = { name: "main" };
  const went: string[] = [];
  const page = Object.assign(new EventEmitter(), {
    mainFrame: () => main,
    goto: async (url: string) => void went.push(url),
    context: () => ({
      newCDPSession: async (target: unknown) => {
        if (!speaks || (target !== page && target !== framed)) throw new Error("no DevTools");
        return session;
      },
    }),
  });
  const framed = { name: "framed", page: () => page };
  Object.assign(main, { page: () => page });
  const pause = async (requestId: string, request: object) => {
    session.emit("Fetch.requestPaused", { requestId, request });
    await Bun.sleep(0);
  };
  return { page: page as unknown as Page & EventEmitter, main, framed, told, paused, went, pause };
}

function hopsForTest() {
  const sockets: [RegExp, Handler][] = [];
  const routes = {
    route: async () => undefined,
    routeWebSocket: async (pattern: unknown, handler: unknown) =>
      void sockets.push([pattern as RegExp, handler as Handler]),
  };
  return { hops: createRequestHops(routes as never), sockets };
}

test("each paused request is judged with its whole body by every judge, and made only if all let it", async () => {
  const { hops, sockets } = hopsForTest();
  const { page, told, paused, pause } = pageForTest();
  const seen: RequestHop[] = [];
  await hops.watch(page);
  expect(told).toEqual([]);
  await hops.add(async (hop) => {
    seen.push(hop);
    return !hop.url.includes("no");
  });
  await hops.add(({ body }) => {
    if (body.includes("broken")) throw new Error("It cannot be judged.");
    return !body.includes("secret");
  });
  expect(told).toEqual(["Fetch.enable"]);
  expect(paused).toEqual([{ urlPattern: "http://*" }, { urlPattern: "https://*" }]);
  expect(sockets.length).toBe(1);
  const entries = (...bytes: string[]) => bytes.map((text) => ({ bytes: Buffer.from(text).toString("base64") }));
  const post = { method: "POST", url: "https://a.example/" };
  await pause("1", { ...post, postData: "a=1" });
  await pause("2", { ...post, postData: "cut", postDataEntries: [...entries("one", "two"), {}] });
  await pause("3", { ...post, postDataEntries: entries("se", "cret") });
  await pause("4", { ...post, url: "https://no.example/" });
  await pause("5", { ...post, postData: "broken" });
  await pause("6", { method: "GET", url: "https://a.example/" });
  expect(seen.map(({ body }) => body)).toEqual(["a=1", "onetwo", "secret", "", "broken", ""]);
  expect(told.slice(1)).toEqual([
    "Fetch.continueRequest 1",
    "Fetch.continueRequest 2",
    "Fetch.failRequest 3 BlockedByClient",
    "Fetch.failRequest 4 BlockedByClient",
    "Fetch.failRequest 5 BlockedByClient",
    "Fetch.continueRequest 6",
  ]);
});

test("a page that comes later is followed too, and one that has closed no more", async () => {
  const { hops } = hopsForTest();
  const [early, late] = [pageForTest(), pageForTest()];
  await hops.watch(early.page);
  early.page.emit("close");
  await hops.add(() => true);
  await hops.watch(late.page);
  expect([early.told, late.told]).toEqual([[], ["Fetch.enable"]]);
});

test("a redirect that was followed before it could be judged is left; what is let through, or is none, is not", async () => {
  const { hops } = hopsForTest();
  const { page, went } = pageForTest();
  await hops.watch(page);
  await hops.add(({ url, body }) => !url.includes("no") && body !== "secret");
  const respond = async (url: string, from: object | null, body: string | null = null) => {
    const request = { redirectedFrom: () => from, method: () => "GET", url: () => url, postData: () => body };
    page.emit("response", { request: () => request });
    await Bun.sleep(0);
    return went.splice(0);
  };
  expect(await respond("https://no.example/", null)).toEqual([]);
  expect(await respond("https://a.example/", {})).toEqual([]);
  expect(await respond("https://no.example/", {})).toEqual(["about:blank"]);
  expect(await respond("https://a.example/", {}, "secret")).toEqual(["about:blank"]);
});

test("whose redirects are seen is known of each frame, and of a browser that tells of none nothing is claimed", async () => {
  const { hops } = hopsForTest();
  const { page, main, framed } = pageForTest();
  const of = (frame: unknown) => ({ frame: () => frame }) as unknown as Request;
  const none = {
    frame: () => {
      throw new Error("a service worker's");
    },
  } as unknown as Request;
  await hops.watch(page);
  await hops.add(() => true);
  expect(await hops.follows(of(main))).toBe(true);
  expect(await hops.follows(of({ page: () => page }))).toBe(true);
  expect(await hops.follows(of(framed))).toBe(false);
  page.emit("framenavigated", framed);
  await Bun.sleep(0);
  expect(await hops.follows(of(framed))).toBe(true);
  expect(await hops.follows(none)).toBe(false);
  expect(await hops.follows(of({ page: () => ({}) }))).toBe(false);
  const silent = hopsForTest().hops;
  const mute = pageForTest({ speaks: false });
  await silent.watch(mute.page);
  await silent.add(() => true);
  expect(await silent.follows(of(mute.main))).toBeUndefined();
});

/** A WebSocket of a page, what its server got, and how both ends were closed. */
function socketForTest() {
  const got: unknown[] = [];
  const closed: unknown[] = [];
  let [onMessage, onClose] = [(_: string | Buffer) => {}, (_code?: number, _reason?: string) => {}];
  const server = {
    send: (message: unknown) => void got.push(message),
    close: async (how?: object) => void closed.push(["server", how]),
  };
  const socket = {
    url: () => "wss://a.example/chat",
    protocols: () => ["one", "two"],
    close: async (how?: object) => void closed.push(["page", how]),
    connectToServer: () => {
      got.push("connected");
      return server;
    },
    onMessage: (then: typeof onMessage) => {
      onMessage = then;
    },
    onClose: (then: typeof onClose) => {
      onClose = then;
    },
  };
  const settle = () => Bun.sleep(0);
  return {
    socket,
    got,
    closed,
    settle,
    say: (text: string | Buffer) => onMessage(text),
    end: (...how: [number?, string?]) => onClose(...how),
  };
}

test("a WebSocket is judged when it opens and with each message, in their order, until one may not be sent", async () => {
  const { hops, sockets } = hopsForTest();
  const seen: string[] = [];
  const slow = Promise.withResolvers<void>();
  await hops.add(async ({ method, url, body }) => {
    seen.push(`${method} ${url} ${body}`);
    if (body === "first") await slow.promise;
    return body !== "secret" && body !== "secret, two";
  });
  const [[pattern, handle] = [/x/, async () => {}]] = sockets;
  expect([pattern.test("ws://a"), pattern.test("wss://a"), pattern.test("https://a")]).toEqual([true, true, false]);
  const { socket, got, closed, settle, say, end } = socketForTest();
  await handle(socket);
  say("first");
  say(Buffer.from("second"));
  await settle();
  expect(got).toEqual(["connected"]);
  slow.resolve();
  await settle();
  expect(got).toEqual(["connected", "first", Buffer.from("second")]);
  say("secret");
  await settle();
  expect(closed).toEqual([
    ["page", { code: 1008 }],
    ["server", undefined],
  ]);
  expect(got).toHaveLength(3);
  end(1000, "bye");
  await settle();
  expect(closed.at(-1)).toEqual(["server", { code: 1000, reason: "bye" }]);
  end(1000, "secret");
  await settle();
  expect(closed.at(-1)).toEqual(["server", undefined]);
  expect(seen[0]).toBe("CONNECT https://a.example/chat one, two");
  expect(seen.at(-1)).toBe("SEND https://a.example/chat secret");
  const refused = { ...socketForTest() };
  await handle({ ...refused.socket, protocols: () => ["secret", "two"] });
  expect([refused.got, refused.closed]).toEqual([[], [["page", undefined]]]);
});

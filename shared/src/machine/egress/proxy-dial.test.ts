import { expect, test } from "bun:test";
import { type AddressInfo, createServer } from "node:net";
import { AppError } from "../../core/errors.ts";
import { addressesOf, admitTarget, dialFirst, dialUpstream, parseUpstream } from "./proxy-dial.ts";

const allow = ["intern.example", "mail.example:25"];
const ending = (url: string) => {
  try {
    return admitTarget(url, { allow, deny: [], only: [] }).href;
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

test("web ports and those above 1023 are allowed; any other only if host and port are allowed together", () => {
  for (const host of ["intern.example", "far.example"])
    for (const port of ["", ":80", ":443", ":1024", ":8080", ":65535"])
      expect(ending(`https://${host}${port}/`)).toBe(new URL(`https://${host}${port}/`).href);
  expect(ending("http://mail.example:25/")).toBe("http://mail.example:25/");
  for (const place of ["intern.example:22", "intern.example:25", "mail.example:22", "far.example:1023", "8.8.8.8:25"])
    expect([place, ending(`http://${place}/`)]).toEqual([place, expect.stringContaining("not a web port")]);
});

test.each([
  ["8.8.8.8", true, ["8.8.8.8"]],
  ["[2606:4700::1111]", false, ["2606:4700::1111"]],
  ["known.example", true, ["8.8.8.8"]],
  ["known.example", false, ["8.8.8.8"]],
  ["inside.example", true, "forbidden"],
  ["inside.example", false, "forbidden"],
  ["unknown.example", true, []],
  ["unknown.example", false, "unavailable"],
])("the addresses of %s, with an upstream proxy (%p), are %j", async (host, hasUpstream, expected) => {
  const known: Record<string, string[]> = { "known.example": ["8.8.8.8"], "inside.example": ["10.0.0.1"] };
  const found = addressesOf(new URL(`http://${host}/`), {
    policy: { allow: [], deny: [], only: [] },
    resolve: async (name) => known[name] ?? Promise.reject(new Error("unknown")),
    upstream: hasUpstream ? parseUpstream({ server: "proxy.example" }) : undefined,
    connectMs: 1_000,
  });
  expect(await found.catch((error) => error.code)).toEqual(expected);
});

test("a connection is made to the first address that answers", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = server.port ?? 0;
  const socket = await dialFirst(["127.0.0.2", "127.0.0.1"], port, 30_000);
  expect(socket.remoteAddress).toBe("127.0.0.1");
  socket.destroy();
  await server.stop(true);
  await expect(dialFirst(["127.0.0.2", "127.0.0.1"], port, 30_000)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/^No connection: .+/),
  });
  await expect(dialFirst([], port, 30_000)).rejects.toBeInstanceOf(AppError);
});

test("an upstream proxy that does not come to TLS in time is given up, and let go of", async () => {
  const left = Promise.withResolvers<string>();
  const silent = createServer((socket) => {
    socket.on("error", () => undefined).once("close", () => left.resolve("left"));
    socket.resume();
  });
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  const { port } = silent.address() as AddressInfo;
  await expect(dialUpstream(parseUpstream({ server: `https://127.0.0.1:${port}` }), 50)).rejects.toMatchObject({
    code: "timeout",
  });
  expect(await left.promise).toBe("left");
  silent.close();
});

const basic = (text: string) => `Basic ${btoa(text)}`;
test.each([
  [{ server: "proxy.example:3128" }, "http://proxy.example:3128/", undefined],
  [{ server: "https://proxy.example" }, "https://proxy.example/", undefined],
  [{ server: "http://u%40:p%3A@proxy.example" }, "http://proxy.example/", basic("u@:p:")],
  [{ server: "http://u:p@proxy.example", username: "v" }, "http://proxy.example/", basic("v:p")],
  [{ server: "http://u:p@proxy.example", username: "", password: "" }, "http://proxy.example/", undefined],
  [{ server: "proxy.example", username: "v" }, "http://proxy.example/", basic("v:")],
  [{ server: "proxy.example", password: "q" }, "http://proxy.example/", basic(":q")],
])("the upstream proxy %j is at %s with the credentials %p", (configured, url, authorization) => {
  const parsed = parseUpstream(configured);
  expect([parsed.url.href, parsed.authorization]).toEqual([url, authorization]);
});

test.each(["socks5://proxy.example", "ftp://proxy.example", "http://", "http://proxy.example:99999"])(
  "%s is no upstream proxy",
  (server) => {
    expect(() => parseUpstream({ server })).toThrow(
      expect.objectContaining({
        code: "config_invalid",
        message: expect.stringContaining(`The proxy ${server} is not`),
      }),
    );
  },
);

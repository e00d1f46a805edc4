import { expect, test } from "bun:test";
import { insideFetch } from "./inside-fetch.ts";

test("what is below a public address is asked inside, the longest address first, and nothing else is", async () => {
  await using gateway = serverNamed("gateway");
  await using manus = serverNamed("manus");
  await using other = serverNamed("other");
  const asked = insideFetch([
    { url: gateway.url, publicUrl: "https://agents.example/" },
    { url: `${manus.url}/`, publicUrl: "https://agents.example/of/manus" },
    { url: other.url, publicUrl: undefined },
  ]);
  const told = async (address: string | URL | Request) => (await asked(address, { method: "POST" })).text();
  expect(await told("https://agents.example")).toBe("gateway POST /");
  expect(await told(new URL("https://agents.example/runs?name=a%20b"))).toBe("gateway POST /runs?name=a%20b");
  expect(await told("https://agents.example/of/manus")).toBe("manus POST /");
  expect(await told(new Request("https://agents.example/of/manus/artifacts/1/a.txt"))).toBe(
    "manus POST /artifacts/1/a.txt",
  );
  expect(await told("https://agents.example/of/manuscripts")).toBe("gateway POST /of/manuscripts");
  expect(await told(`${other.url}/x`)).toBe("other POST /x");
});

function serverNamed(name: string) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      return new Response(`${name} ${request.method} ${pathname}${search}`);
    },
  });
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}

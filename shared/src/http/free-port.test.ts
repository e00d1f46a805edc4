import { expect, test } from "bun:test";
import { freePort } from "./free-port.ts";

const listen = (port: number) => Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });

test("a free port can be listened on, and the kernel gives it to nobody else", () => {
  const [kernel, ours] = [
    Array.from({ length: 20 }, () => listen(0)),
    Array.from({ length: 200 }, () => listen(freePort())),
  ];
  const lowest = Math.min(...kernel.map(({ port }) => port));
  for (const { port } of ours) expect(port).toBeLessThan(lowest);
  // Below are the ports of well-known services.
  expect(Math.min(...ours.map(({ port }) => port))).toBeGreaterThanOrEqual(10_000);
  for (const listener of [...kernel, ...ours]) listener.stop(true);
});

test("a port that was given out is not given out again before it is listened on", () => {
  const ports = Array.from({ length: 5_000 }, () => freePort());
  expect(new Set(ports).size).toBe(ports.length);
});

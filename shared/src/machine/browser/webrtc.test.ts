import { afterAll, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { browsersForTest } from "../../testing/browser/browsers.ts";

const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response("<h1>open</h1>", { headers: { "content-type": "text/html" } }),
});
const open = `127.0.0.1:${site.port}`;

/** Every packet and every connection that arrived, on any address of this machine. */
const packets: string[] = [];
const udp = await Bun.udpSocket({
  hostname: "0.0.0.0",
  socket: { data: (_, data) => void packets.push(`udp ${data.length}`) },
});
const tcp = Bun.listen({
  hostname: "0.0.0.0",
  port: 0,
  socket: { data: (_, data) => void packets.push(`tcp ${data.length}`), open: () => void packets.push("tcp") },
});
const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
const addresses = own.filter(({ family }) => family === "IPv4").map(({ address }) => address);

afterAll(async () => {
  udp.close();
  tcp.stop(true);
  await site.stop(true);
});

/**
 * The script of a page that tries every way WebRTC has to reach the network; returns the addresses
 * it learned.
 */
const look = (hosts: readonly string[], udpPort: number, tcpPort: number) => `(async () => {
  const account = { username: "u", credential: "c" };
  const iceServers = ${JSON.stringify(hosts)}.flatMap((host) => [
    { urls: "stun:" + host + ":${udpPort}" },
    { urls: "turn:" + host + ":${udpPort}?transport=udp", ...account },
    { urls: "turn:" + host + ":${tcpPort}?transport=tcp", ...account },
  ]);
  const peer = new RTCPeerConnection({ iceServers, iceCandidatePoolSize: 2 });
  const found = [];
  const done = new Promise((resolve) => {
    peer.onicecandidate = ({ candidate }) => (candidate === null ? resolve() : found.push(candidate.candidate));
    setTimeout(resolve, 4_000);
  });
  peer.createDataChannel("out");
  await peer.setLocalDescription(await peer.createOffer());
  await done;
  peer.close();
  return found;
})()`;

async function gather(extraArgs: string[]): Promise<unknown> {
  packets.length = 0;
  await using lab = await browsersForTest([open], { extraArgs });
  const browsing = await lab.open("webrtc");
  const options = { signal: new AbortController().signal, timeoutMs: 20_000 };
  return await browsing.act(async (page) => {
    await page.goto(`http://${open}/`);
    return await page.evaluate(look(addresses, udp.port, tcp.port));
  }, options);
}

test("a page's WebRTC sends nothing past the proxy, and learns no address of this machine", async () => {
  expect(await gather([])).toEqual([]);
  expect(packets).toEqual([]);
});

test("the same page reaches the port in an unrestricted browser", async () => {
  await gather(["--webrtc-ip-handling-policy=default", "--force-webrtc-ip-handling-policy=default"]);
  expect(packets.filter((packet) => packet.startsWith("udp")).length).toBeGreaterThan(0);
});

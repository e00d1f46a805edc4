import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials, status } from "@grpc/grpc-js";
import { callerNamed } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import { hasOpenssl, testAuthority } from "manyhands/internal/testing/certificates";
import { serveGrpc } from "../../shared/src/a2a/server/grpc/serve-grpc.ts";
import { failureOf, grpcClient } from "./grpc-client.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-grpc-tls-"));
afterAll(() => rm(folder, { recursive: true }));
const text = (name: string) => Bun.file(join(folder, name)).text();
const bytes = async (name: string) => Buffer.from(await text(name));

beforeAll(async () => {
  if (!hasOpenssl)
    return console.warn("skipped: openssl is not installed, which makes the certificates of these tests");
  for (const authority of ["ours", "others"]) {
    await mkdir(join(folder, authority));
    const { issue } = await testAuthority(join(folder, authority));
    await issue("server", { names: "DNS:agents.example.com" });
    await issue("client", { names: "DNS:client" });
  }
});

test.skipIf(!hasOpenssl)(
  "gRPC over TLS: a certificate of the authority for clients is needed, and no other server is taken for ours",
  async () => {
    const tls = {
      cert: await text("ours/server.pem"),
      key: await text("ours/server.key"),
      clientCa: await text("ours/ca.pem"),
    };
    const served = await serveGrpc({
      port: 0,
      hostname: "127.0.0.1",
      tls,
      identify: () => callerNamed("ann"),
      report: () => undefined,
      handlerOf() {
        throw new AppError("not_found", "There is none.");
      },
    });
    const codeWith = async (secured: Parameters<typeof grpcClient>[1]) => {
      using client = grpcClient(`127.0.0.1:${served.port}`, secured);
      const call = client.call("getTask", { tenant: "", id: "none" }, { deadline: Date.now() + 30_000 });
      return (await failureOf(call)).code;
    };
    const ca = await bytes("ours/ca.pem");
    const name = "agents.example.com";
    const shown = async (whose: string) =>
      credentials.createSsl(ca, await bytes(`${whose}/client.key`), await bytes(`${whose}/client.pem`));
    expect(await codeWith({ secured: await shown("ours"), name })).toBe(status.NOT_FOUND);
    expect(await codeWith({ secured: await shown("others"), name })).toBe(status.UNAVAILABLE);
    expect(await codeWith({ secured: credentials.createSsl(ca), name })).toBe(status.UNAVAILABLE);
    expect(await codeWith({ secured: await shown("ours"), name: "other.example.com" })).toBe(status.UNAVAILABLE);
    await served.stop(100);
  },
  60_000,
);

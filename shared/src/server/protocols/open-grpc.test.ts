import { expect, spyOn, test } from "bun:test";
import * as serving from "../../a2a/server/grpc/serve-grpc.ts";
import { openGrpc } from "./open-grpc.ts";

const options = { hostname: "0.0.0.0" } as unknown as Parameters<typeof openGrpc>[1];

test("gRPC is served where a port is set, and a card names it beside the server's public address", async () => {
  const stop = async () => undefined;
  using listening = spyOn(serving, "serveGrpc").mockResolvedValue({ port: 50_051, stop });
  expect(await openGrpc(0, options)).toBeUndefined();
  expect(listening).not.toHaveBeenCalled();
  const grpc = await openGrpc(7, options);
  expect(listening.mock.calls).toEqual([[{ ...options, port: 7 }]]);
  expect(grpc?.stop).toBe(stop);
  expect(grpc?.interfaceAt("https://a.example:8443/swe")).toEqual({ address: "a.example:50051", tenant: "" });
  expect(grpc?.interfaceAt("http://[::1]:4100", "swe")).toEqual({ address: "[::1]:50051", tenant: "swe" });
});

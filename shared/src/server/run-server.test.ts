import { expect, test } from "bun:test";
import { publicUrlOf } from "./run-server.ts";

const settings = { port: 4100, publicUrl: "https://team.example" };

test("a server's address from outside is the one it was told, then that of the settings for their port, then where it listens", () => {
  const at = (port: number, told?: string) => publicUrlOf(new URL(`http://0.0.0.0:${port}`), told, settings);
  expect(at(4100, "https://told.example")).toBe("https://told.example");
  expect(at(4100)).toBe("https://team.example");
  expect(at(5000)).toBe("http://127.0.0.1:5000");
  expect(publicUrlOf(new URL("http://[::]:4100"), undefined, { port: 4100, publicUrl: undefined })).toBe(
    "http://[::1]:4100",
  );
});

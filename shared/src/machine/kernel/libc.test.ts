import { expect, test } from "bun:test";
import { libc } from "./libc.ts";

test.if(process.platform === "linux")("the C library is opened once, as each opening takes memory for good", () => {
  expect(libc()).toBe(libc());
});

import { expect, test } from "bun:test";
import { libc } from "./libc.ts";

test.if(process.platform === "linux")(
  "the C library is opened once, because each opening takes memory permanently",
  () => {
    expect(libc()).toBe(libc());
  },
);

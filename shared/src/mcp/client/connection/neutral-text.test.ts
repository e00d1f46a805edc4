import { expect, test } from "bun:test";
import { neutral, neutralLine } from "./neutral-text.ts";

test("what a terminal obeys, what is not seen and what turns the reading is gone; what scripts and emoji need stays", () => {
  const hidden = String.fromCodePoint(0xe0041);
  expect(neutral(`a\u001b[31mred\u001b[0m \u001b]0;t\u0007b\u202ec\u200bd${hidden}e\r\nf\u0000`)).toBe("ared bcde\nf");
  expect(neutral("👩‍💻 क्‍ष ñ\tü\n")).toBe("👩‍💻 क्‍ष ñ\tü\n");
  expect(neutral("x\u200dy\u200c\u200d\u200cz")).toBe("xyz");
});

test("a line is one line, and cut", () => {
  expect(neutralLine("a\n  b\tc", 10)).toBe("a b c");
  expect(neutralLine("abcdef", 4)).toBe("abc…");
});

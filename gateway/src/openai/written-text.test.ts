import { expect, test } from "bun:test";
import { writtenText } from "./written-text.ts";

test("pieces are sent as they come, and a reply that was sent whole is not sent again", () => {
  const written = writtenText();
  expect([written.piece("There are ", 0), written.piece("168.", 10)]).toEqual(["There are ", "168."]);
  expect([written.reply("There are 168."), written.answer("There are 168.")]).toEqual(["", ""]);
});

test("after a gap nothing is sent until the reply is whole", () => {
  const written = writtenText();
  expect([written.piece("There ", 0), written.piece("168.", 10)]).toEqual(["There ", ""]);
  expect(written.reply("There are 168.")).toBe("are 168.");
  expect([written.piece("late", 7), written.reply("Too late")]).toEqual(["", "\n\nToo late"]);
});

test("a restarted reply is not sent twice, and a different one is set apart from the part already sent", () => {
  const written = writtenText();
  expect(written.piece("There are ", 0)).toBe("There are ");
  expect([written.piece("There", 0), written.piece(" are 168.", 5)]).toEqual(["", "168."]);
  expect(written.reply("There are 168.")).toBe("");
  expect([written.piece("One", 0), written.piece("Two", 0)]).toEqual(["\n\nOne", ""]);
  expect(written.reply("Two!")).toBe("\n\nTwo!");
});

test("an answer that was not the last reply is sent at the end", () => {
  const written = writtenText();
  expect(written.answer("There are 168.")).toBe("There are 168.");
  const other = writtenText();
  expect([other.piece("Counting.", 0), other.reply("Counting."), other.answer("168")]).toEqual([
    "Counting.",
    "",
    "\n\n168",
  ]);
  const replaced = writtenText();
  expect([replaced.piece("There may", 0), replaced.answer("It is 168.")]).toEqual(["There may", "\n\nIt is 168."]);
  const cut = writtenText();
  expect([cut.piece("There are", 0), cut.answer("There are 168.")]).toEqual(["There are", " 168."]);
});

test("a retried reply that goes another way sends nothing of itself before it is whole", () => {
  const written = writtenText();
  expect([written.piece("One", 0), written.piece("Two and", 0), written.piece(" three", 7)]).toEqual(["One", "", ""]);
  expect(written.reply("Two and three")).toBe("\n\nTwo and three");
});

test("a piece that comes after its reply was whole is part of no other", () => {
  const written = writtenText();
  written.piece("There ", 0);
  expect([written.reply("There are."), written.piece("late", 6)]).toEqual(["are.", ""]);
});

test("an answer is the last reply whatever blanks are around it", () => {
  const written = writtenText();
  written.reply("There are 168.");
  expect(written.answer("\nThere are 168.\n")).toBe("");
});

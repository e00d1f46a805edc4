import { expect, test } from "bun:test";
import { readMail } from "./read-mail.ts";

const message = (number: number) => `From a@b.c Mon Jan  1 00:00:00 2024\nSubject: ${number}\n\nText ${number}\n\n`;

test("of a mailbox the first fifty thousand messages are read, each by itself, and it is said that there are more", async () => {
  const bytes = Buffer.from(Array.from({ length: 50_001 }, (_, at) => message(at + 1)).join(""));
  const reading = readMail(bytes, "49999-");
  expect(reading.about).toBe("Mailbox, the first 50000 messages");
  const texts = (await Array.fromAsync(reading.pieces)).map(({ text }) => text);
  expect(texts).toEqual([49_999, 50_000].map((at) => `[message ${at}]\nSubject: ${at}\n\nText ${at}\n`));
  expect(() => readMail(bytes, "50001")).toThrow("the document has 50000 messages");
  const whole = bytes.subarray(0, bytes.lastIndexOf("\nFrom ") + 1);
  expect(readMail(whole, undefined).about).toBe("Mailbox, 50000 messages");
});

import { afterAll, expect, test } from "bun:test";
import type { EmailTarget } from "manyhands/internal/config/triggers/trigger-config";
import { SMTPServer } from "smtp-server";
import { sendMail } from "./send-mail.ts";

type Mail = { readonly user: string | undefined; readonly to: readonly string[]; readonly text: string };
const mails: Mail[] = [];
/** What the server says to the next mails and the next password, in place of yes. */
const refusals: { mail?: number; isSilent?: () => void } = {};
const server = new SMTPServer({
  authOptional: true,
  allowInsecureAuth: true,
  disabledCommands: ["STARTTLS"],
  onAuth({ username, password }, _, done) {
    if (password !== "word") done(new Error("Invalid login"));
    else done(null, { user: username });
  },
  onData(stream, session, done) {
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    stream.on("end", () => {
      if (refusals.isSilent) return refusals.isSilent();
      mails.push({ user: session.user, to: session.envelope.rcptTo.map(({ address }) => address), text });
      done(refusals.mail ? Object.assign(new Error("not now"), { responseCode: refusals.mail }) : null);
    });
  },
});
const { promise, resolve } = Promise.withResolvers<void>();
server.listen(0, "127.0.0.1", resolve);
await promise;
const { port } = server.server.address() as { port: number };
afterAll(() => new Promise<void>((closed) => server.close(() => closed())));

const target: EmailTarget = {
  ...{ type: "email", host: "127.0.0.1", port, security: "none", from: "agents@example.com" },
  ...{ to: ["me@example.com", "you@example.com"], login: undefined },
};
const news = { type: "test", title: "Done: it", text: "All is well.", url: "https://a/#/runs/r1" } as const;
const send = (more: object = {}, signal = AbortSignal.timeout(20_000)) =>
  sendMail({ ...target, ...more } as EmailTarget, news, "run 1/7", signal);

test("an e-mail goes to all of its receivers with the link, and has one id however often it is sent", async () => {
  expect(await send()).toBeUndefined();
  expect(await send()).toBeUndefined();
  for (const mail of mails.splice(0)) {
    expect(mail.to).toEqual(["me@example.com", "you@example.com"]);
    expect(mail.user).toBeUndefined();
    expect(mail.text).toContain("Message-ID: <run.1.7@manyhands>\r\n");
    expect(mail.text).toContain("All is well.\r\n\r\nhttps://a/#/runs/r1\r\n");
  }
});

test("the server's login is used, and a password or mail that it refuses for good is not tried again", async () => {
  const login = { user: "agents", pass: "word" };
  expect(await send({ login })).toBeUndefined();
  expect(mails.splice(0)[0]?.user).toBe("agents");
  expect(await send({ login: { ...login, pass: "wrong" } })).toMatchObject({ final: true });
  for (const [code, final] of [
    [550, true],
    [500, true],
    [451, false],
  ] as const) {
    refusals.mail = code;
    expect(await send()).toMatchObject({ final, reason: expect.stringContaining("the mail server: ") });
  }
  delete refusals.mail;
  // Nobody listens there now: somebody may later.
  expect(await send({ port: 1 })).toMatchObject({ final: false });
});

test("who gives up sending is not told of a refusal", async () => {
  mails.splice(0);
  const ends = new Error("The server ends.");
  await expect(send({}, AbortSignal.abort(ends))).rejects.toThrow(ends.message);
  expect(mails).toEqual([]);
  const end = new AbortController();
  refusals.isSilent = () => end.abort(ends);
  await expect(send({}, end.signal)).rejects.toThrow(ends.message);
  delete refusals.isSilent;
}, 10_000);

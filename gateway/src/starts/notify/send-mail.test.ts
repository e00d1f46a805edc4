import { afterAll, expect, spyOn, test } from "bun:test";
import { createServer } from "node:net";
import type { EmailTarget } from "manyhands/internal/config/triggers/trigger-config";
import { SMTPServer } from "smtp-server";
import { sendMail } from "./send-mail.ts";

type Mail = { readonly user: string | undefined; readonly to: readonly string[]; readonly text: string };
const mails: Mail[] = [];
/** What the server says to the next mails and the next password, in place of yes. */
const refusals: { mail?: number; isSilent?: () => void } = {};
const server = new SMTPServer({
  authOptional: true,
  // Those who gave up do not hang up by themselves.
  closeTimeout: 50,
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
      done(
        refusals.mail
          ? Object.assign(new Error("<you@example.com> has no room"), { responseCode: refusals.mail })
          : null,
      );
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
    const reason = expect.stringMatching(/^the mail server: .*: \d+ <an address> has no room/);
    expect(await send()).toMatchObject({ final, reason });
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

test("who gives up hangs up at once", async () => {
  const end = new AbortController();
  const hungUp = Promise.withResolvers<void>();
  const listener = createServer((socket) => {
    socket.write("220 here\r\n");
    socket.on("error", () => undefined);
    socket.on("data", () => end.abort(new Error("The server ends."))).on("end", hungUp.resolve);
  });
  const listening = Promise.withResolvers<void>();
  listener.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const { port } = listener.address() as { port: number };
  const error: unknown = await send({ port }, end.signal).catch((reason) => reason);
  expect(error).toBe(end.signal.reason);
  await hungUp.promise;
  listener.close();
});

/**
 * What a server hears of a mail with this security; it offers TLS if `offers`, and takes no mail.
 */
async function heard(security: EmailTarget["security"], offers: boolean) {
  const lines: string[] = [];
  const listener = createServer((socket) => {
    const answers: Readonly<Record<string, string>> = {
      EHLO: offers ? "250-here\r\n250 STARTTLS" : "250 here",
      ...(offers && { STARTTLS: "220 Go on" }),
    };
    if (security !== "tls") socket.write("220 here\r\n");
    socket
      .on("error", () => undefined)
      .on("data", (data) => {
        const isTls = data[0] === 0x16;
        const verb = isTls ? "a TLS hello" : (data.toString().split(/[ \r]/)[0] ?? "");
        lines.push(verb);
        if (isTls) socket.destroy();
        else socket.write(`${answers[verb] ?? "550 No"}\r\n`);
      });
  });
  const listening = Promise.withResolvers<void>();
  listener.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const { port } = listener.address() as { port: number };
  const refusal = await send({ security, port, login: undefined });
  listener.close();
  return [lines.filter((line) => line !== "QUIT"), refusal !== undefined];
}

test("a mail goes over TLS from the first byte, or from the second sentence on, or not at all, as it was said", async () => {
  expect(await heard("tls", true)).toEqual([["a TLS hello"], true]);
  expect(await heard("starttls", true)).toEqual([["EHLO", "STARTTLS", "a TLS hello"], true]);
  expect(await heard("none", true)).toEqual([["EHLO", "MAIL"], true]);
  // A server that has no TLS gets neither the mail nor the password.
  const [lines] = await heard("starttls", false);
  expect(lines).toEqual(["EHLO", "STARTTLS"]);
});

test("a server whose certificate nobody vouches for gets no mail", async () => {
  const received: string[] = [];
  const safe = new SMTPServer({
    // Its certificate is known to everybody.
    ...{ secure: true, authOptional: true, logger: false },
    onMailFrom({ address }, _, done) {
      received.push(address);
      done();
    },
  });
  const listening = Promise.withResolvers<void>();
  safe.on("error", () => undefined);
  safe.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const { port } = safe.server.address() as { port: number };
  const refusal = await send({ security: "tls", host: "localhost", port });
  await new Promise<void>((closed) => safe.close(() => closed()));
  expect([refusal?.reason, refusal?.final, received]).toEqual([expect.stringContaining("certificate"), false, []]);
});

test("a server that says nothing for a minute has not taken the mail, and may be asked again", async () => {
  const inTime = AbortSignal.timeout;
  // A thousandth of the time.
  using timeout = spyOn(AbortSignal, "timeout").mockImplementation((ms) => inTime(ms / 1_000));
  refusals.isSilent = () => undefined;
  expect(await send({}, new AbortController().signal)).toMatchObject({ final: false });
  delete refusals.isSilent;
  expect(timeout.mock.calls).toEqual([[60_000]]);
});

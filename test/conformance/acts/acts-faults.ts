/** The draft's tests that fail a server which does what A2A 1.0.1 says, and what it says. */
export const draftFaults: Readonly<Record<string, string>> = {
  "CARD-DISC-002": "the binding is HTTP+JSON (5.1); the draft knows it as REST only",
  "CORE-SEND-004": "a part's media type is its mediaType (4.1.6); the draft has it in the part's metadata",
  "CORE-CTX-001": "a server may take a client's contextId (3.4.1), and ours do; the draft wants one to be refused",
  "CORE-CAP-001":
    "without push notifications the error is PushNotificationNotSupportedError (3.3.4); the draft wants UnsupportedOperationError",
  "PUSH-CFG-004": "the same",
  "REST-PD-001": "an error's body is google.rpc.Status (11.6); the draft wants RFC 9457",
  "DM-FMT-003": "a Message may have a contextId (4.1.4); the draft wants none",
  "STREAM-MSG-001": "a stream may have a task instead of a message (3.1.2), and who follows ours gets one",
};

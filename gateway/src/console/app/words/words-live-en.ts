/** The texts of an agent's page, live, in English. */
export const liveEnglish = {
  title: (agent: string) => `The page of ${agent}`,
  picture: "The page as it is now",
  screen: "The page: what you press and type goes to it. Escape leaves it.",
  phases: {
    connecting: "Connecting",
    none: "No page is open",
    watching: "Watching",
    held: "You have the page; the agent waits",
    "handed-back": "Handed back; watching",
    ended: "The task has ended, and its page with it.",
    refused: "The page cannot be shown here.",
  },
  take: "Take over",
  taking: "Waiting for the agent's call",
  handBack: "Hand back",
  hint: "Take over to click and type in the page yourself. The agent waits meanwhile.",
  heldHint:
    "Click the picture, then type. Escape leaves it. What you type goes to the page alone. After two minutes without input, the page is handed back.",
  dialog: "A dialog of the page",
  accept: "OK",
  dismiss: "Cancel",
  typeHere: "Type into the focused field",
  typeIt: "Type",
  pageUp: "A screen up",
  pageDown: "A screen down",
  back: "Back",
};

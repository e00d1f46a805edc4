/** The texts of an agent's page, live, in English. */
export const liveEnglish = {
  titleOf: {
    browser: (agent: string) => `The page of ${agent}`,
    desktop: (agent: string) => `The desktop of ${agent}`,
  },
  pictureOf: { browser: "The page as it is now", desktop: "The desktop as it is now" },
  screenOf: {
    browser: "The page: what you press and type goes to it. Escape leaves it.",
    desktop: "The desktop: what you press and type goes to it. Escape leaves it.",
  },
  phasesOf: {
    browser: {
      connecting: "Connecting",
      none: "No page is open",
      watching: "Watching",
      held: "You have the page; the agent waits",
      "handed-back": "Handed back; watching",
      ended: "The task has ended, and its page with it.",
      refused: "The page cannot be shown here.",
    },
    desktop: {
      connecting: "Connecting",
      none: "No desktop is open",
      watching: "Watching",
      held: "You have the desktop; the agent waits",
      "handed-back": "Handed back; watching",
      ended: "The task has ended, and its desktop with it.",
      refused: "The desktop cannot be shown here.",
    },
  },
  take: "Take over",
  taking: "Waiting for the agent's call",
  handBack: "Hand back",
  handedBackAnswer: "I have done it on the page, and handed the page back.",
  hintOf: {
    browser: "Take over to click and type in the page yourself. The agent waits meanwhile.",
    desktop: "Take over to click and type on the desktop yourself. The agent waits meanwhile.",
  },
  heldHintOf: {
    browser:
      "Click the picture, then type. Escape leaves it. What you type goes to the page alone. After two minutes without input, the page is handed back.",
    desktop:
      "Click the picture, then type. Escape leaves it. What you type goes to the desktop alone; what stays readable on it, the agent sees. After two minutes without input, it is handed back.",
  },
  dialog: "A dialog of the page",
  accept: "OK",
  dismiss: "Cancel",
  typeHere: "Type into the focused field",
  typeIt: "Type",
  pageUp: "A screen up",
  pageDown: "A screen down",
  back: "Back",
};

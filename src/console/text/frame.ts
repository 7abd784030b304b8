// What the frame says: navigation, sign-in, and what every page has.

const number = (value: number) => new Intl.NumberFormat("en").format(value);

export const frameText = {
  name: "netledger",
  skipToContent: "Skip to the content",
  pages: "Pages",
  menu: "Menu",
  allNetworks: "All networks",
  network: "Network",
  account: "Account",
  timeZone: "Time zone",
  signOut: "Sign out",
  settings: "Account: password, sessions",
  keys: "Keys",
  apiReference: "API reference",
  handbook: "Handbook",
  notes: "About this appliance",
  demo: "A demo: everything in it is made up.",
  demoAsksNothing: "Its scans ask no real network.",
  readOnly: "A backup, read-only: everything can be asked, nothing changed.",
  backupUntil: "Its last change is of",
  unreachable: "The appliance does not answer. What you see is from before; it is asked again.",
  notFoundTitle: "No such page",
  notFound: (path: string) => `There is nothing at ${path}.`,
  toStart: "Go to the start",
  newVersion: "The appliance was updated while this page was open.",
  reload: "Load it anew",
  pageFailed: "This page could not be loaded.",
  pageBroke: "This page has a fault: it came upon something that it did not expect.",
  again: "Try again",
} as const;

export const signInText = {
  title: "Sign in",
  email: "E-mail",
  password: "Password",
  signIn: "Sign in",
  signingIn: "Signing in…",
  cutOff: "Your session has ended. Sign in, and you are back where you were.",
  noCookie:
    "The browser did not keep the session's cookie. Over plain HTTP a cookie of HTTPS is not replaced: use the address that starts with https, or allow cookies for this one.",
  unclaimedTitle: "Not claimed yet",
  unclaimed:
    "Nobody owns this appliance yet. Where it was started, it printed a command that begins with “Claim it”: run that, then sign in here.",
  retryIn: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
} as const;

export const partText = {
  requestId: (id: string) => `Request ${id}`,
  unreachable: "The appliance did not answer. Is it running, and is the way to it open?",
  answeredByAnother: (answer: string) =>
    `What stands between here and the appliance answered ${answer}. It may be restarting: try again in a moment.`,
  notFound: "There is no such record, or it is not within your reach.",
  forbidden: "Your role does not allow this.",
  tooBusy: "The appliance is busy. Try again in a moment.",
  again: "Try again",
  pin: "Pin",
  pinned: "Pinned",
  pinMeaning: "Keep it at hand on the start page",
  copy: "Copy",
  copied: "Copied",
  copyAs: "Copy as",
  curl: "curl",
  openCsv: "CSV",
  loading: "Loading…",
  slow: "This takes a while…",
  more: (count: number) => `${count} more`,
  number,
  findIn: (title: string) => `Find in: ${title}`,
  foundOf: (found: number, all: number) => `${number(found)} of ${number(all)}`,
  nothingFound: "Nothing here has these words.",
  previous: "Previous",
  next: "Next",
  page: (page: number, pages: number) => `Page ${number(page)} of ${number(pages)}`,
  now: "now",
  utc: (instant: string) => `${instant} UTC`,
} as const;

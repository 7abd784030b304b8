// Texts of the first-run wizard: this machine, what to scan, credentials, and the first scan.

import { counted, groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

export const wayText = {
  steps: "Steps",
  step: { machine: "This machine", where: "What to scan", credentials: "Credentials", scan: "First scan" },
  question: {
    machine: "What does this machine see of itself?",
    where: "What should be scanned?",
    credentials: "Which credentials may be used?",
    scan: "The first scan",
  },
  next: "Continue",
  back: "Back",
  skip: "Skip this step",
  leave: "Leave it for later",
  reason: "Get started",
  working: "One moment…",
  chooseNetwork: "A scan is of one network. Choose one:",
  noNetwork: "You don't have access to any network.",
  unknownNetwork: "Network not found, or you don't have access to it. Choose one:",
  forAdmins: "This is for Admins: it records this machine, gives credentials and starts the first scan.",
  memberMay: "You may scan what lies in the network's subnets:",
  viewerMay: "What has been found so far is here:",
  ofNow: "The past is not scanned.",
  toNow: "Go back to now",
} as const;

export const machineText = {
  says: "This is the machine that netledger runs on, as its kernel describes it. Recorded, it becomes a host with its interfaces, addresses, open ports and services, and the subnets that it is in. Nothing is sent over the network.",
  record: "Record this machine",
  again: "Look again",
  recording: "Looking…",
  limits: "This machine does not let netledger use all of it:",
  gone: "The host that was recorded is no longer there. Record it again.",
  recorded: "Recorded as",
  holds: (interfaces: number, up: number, ports: number) =>
    `${counted(interfaces, "interface", "interfaces")}, ${groupedDigits(up)} of them up, and ${counted(ports, "open port", "open ports")}.`,
  defaultRoute: "default route",
  addresses: "Its addresses",
  address: "Address",
  interface: "Interface",
  subnet: "Subnet",
  noAddresses:
    "It has no address but those that only it can reach, so it is in no subnet. Type what to scan in the next step.",
} as const;

/** Reasons why a subnet is not preselected. */
const DOUBTS = {
  loopback: "only this machine is in it",
  containers: "made for containers or virtual machines of this machine",
  tunnel: "a tunnel: what is behind it may not be yours",
  elsewhere: "beyond your own network, by its type",
  public: "public addresses: tick it if they are yours",
  large: "large: it takes a while",
  huge: "more than one scan takes: name parts of it below",
  ipv6: "too many addresses to ask one by one: name parts of it below",
} as const;
export type Doubt = keyof typeof DOUBTS;

export const whereText = {
  known: "Subnets of this network",
  none: "No subnet is known yet. The step before finds those of this machine, or type one below.",
  size: (count: number) => counted(count, "address", "addresses"),
  manyAddresses: (power: number) => `2^${power} addresses`,
  by: (interfaces: string, isDefaultRoute: boolean) =>
    `this machine's ${interfaces}${isDefaultRoute ? ", with its default route" : ""}`,
  doubt: (doubt: Doubt) => DOUBTS[doubt],
  others: "Others",
  othersHelp: "Addresses and subnets such as 10.2.3.4 or 10.2.3.0/24, separated by spaces, commas or line breaks.",
  total: (count: number) => `${counted(count, "address", "addresses")} in all.`,
  large: "One of them is larger than /16: scan all of it",
  largeWrong: "Tick this, or name smaller subnets.",
  nothing: "Tick a subnet, or type an address or a subnet.",
  tooMany: (count: number, most: number) =>
    `${groupedDigits(count)} addresses are more than one scan takes: at most ${groupedDigits(most)}.`,
  noTarget: (text: string) => `${text} is neither an address nor a subnet.`,
  hostBits: (text: string, meant: string) => `${text} is an address in a subnet: write ${meant}.`,
  permits:
    "By naming them you allow, as an Admin, that the credentials of the next step are sent to every address in them. A subnet that is not in the inventory yet is added, and accepts credentials from then on, in everybody's scans.",
} as const;

export const credentialsText = {
  says: "Switches and routers tell by SNMP what they are, which ports they have and who is at the other end of each cable. They are only read, never changed.",
  choices: {
    own: (names: string) => `What this network has: ${names}`,
    other: "A credential of another network",
    v2c: "An SNMP v2c community",
    v3: "An SNMP v3 user",
    none: "None: only a sweep",
  },
  choose: "Choose one.",
  noneSays:
    "A sweep finds who answers, and on which ports. It sends no secret. Without SNMP you will not see the interfaces of switches, VLANs, links between devices, nor at which port a MAC address is: the map has devices and no links. You can add credentials at any time.",
  kept: (name: string) =>
    `It is kept encrypted as “${isolated(name)}”, for this network, and never shown again. If you reload this page before you continue, type it again.`,
  unsure: "It is not known whether what you sent was saved. Type it again and continue to find out: it is saved once.",
  wasSaved: "What you sent before was saved. To type another one, choose so.",
  nameOf: { v2c: (network: string) => `SNMP v2c, ${network}`, v3: (network: string) => `SNMP v3, ${network}` },
  other: "Credential",
  security_name: "User",
  auth_protocol: "Authentication",
  priv_protocol: "Encryption",
  secrets: {
    community: "Community",
    auth_password: "Authentication password",
    priv_password: "Encryption password",
  },
  context_name: "Context",
  contextHelp: "Most devices have none.",
  /** Spellings that differ from the API names. */
  protocols: {
    Sha512: "SHA-512",
    Sha384: "SHA-384",
    Sha256: "SHA-256",
    Sha1: "SHA-1",
    Md5: "MD5",
    Aes256: "AES-256",
    Aes128: "AES-128",
    Des: "DES",
    None: "none",
  } as Readonly<Record<string, string>>,
  save: "Save and continue",
} as const;

export const firstScanText = {
  asked: "Asked",
  size: (count: number) => `up to ${counted(count, "address", "addresses")}`,
  more: (count: number) => `and ${groupedDigits(count)} more`,
  with: "With",
  sweepOnly: "nothing: only a sweep, which sends no secret",
  nothing: "Nothing is chosen to be scanned.",
  noCredential: "This network has no credential: this will be a sweep.",
  choose: "Choose what to scan",
  change: "Change",
  changeOf: (what: string) => `Change: ${what}`,
  says: "How long it takes is told while it runs. You can end it at any time, and you need not stay: it goes on without this page.",
  start: "Start the first scan",
  starting: "Starting…",
  refused: "The appliance does not take this:",
  unknown: "There is no such scan in this network. It may be of another one, or no longer kept.",
  anew: "Start another scan",
  state: { Completed: "Done.", Cancelled: "It was stopped before it finished.", other: "It did not finish." },
  map: "Map",
  mapOf: (devices: number, links: number) =>
    `${counted(devices, "device", "devices")}, ${counted(links, "link", "links")}`,
  mapEmpty: "Devices appear here as they are found.",
  openMap: "Open the map",
  latest: "Found last",
  latestNone: "Nothing yet.",
  soFar: (found: number, devices: number) =>
    `${counted(found, "address", "addresses")} answered so far, ${counted(devices, "device", "devices")} by SNMP.`,
  found: (found: number, devices: number) =>
    `${counted(found, "address", "addresses")} answered, ${counted(devices, "device", "devices")} by SNMP.`,
  foundSweep: (found: number) => `${counted(found, "address", "addresses")} answered.`,
  foundNone: "Nothing answered. Is the subnet the right one, and may this machine reach it?",
  written: "Written to the inventory",
  nothingWritten: "nothing new",
  noDevice: (asked: number, names: string) =>
    `No device answered SNMP: ${counted(asked, "address was", "addresses were")} asked with ${names}.`,
  noDeviceWhy:
    "Devices ignore a wrong community silently. Check its spelling, and whether the devices allow SNMP from this machine.",
  someSilent: (silent: number) =>
    `${counted(silent, "address", "addresses")} did not answer SNMP. They may have none, like most computers and printers, or need another community or user.`,
  otherCredential: "Give another credential",
  unreadWhy: "No answer or not scanned",
  moreFindings: "All findings of this scan",
  errors: {
    no_answer: "no answer: silent, or the community is wrong",
    port_closed: "no SNMP agent listens",
    unreachable: "cannot be reached",
    wrong_user: "has no user with this name",
    wrong_password: "the authentication password or protocol is wrong",
    unsupported: "does not support what was asked for",
    refused: "refuses access",
  } as Readonly<Record<string, string>>,
  errorOf: (count: number, said: string) => `${counted(count, "address", "addresses")}: ${said}`,
  nextTitle: "What next",
  hosts: "Hosts",
  again: "Scan something else",
  people: "New user",
  backup: "Take a backup",
  addCredentials: "Add credentials, and read devices by SNMP",
  nightly: "Scan this every night",
  nightlyName: "Every night",
  nightlySays: "The same scan, of the same addresses, by itself:",
  nightlyTooLarge: "What is larger than /16 is not scanned by itself: make a schedule of smaller subnets.",
  scheduled: "Scanned by itself:",
  scheduling: "Saving…",
} as const;

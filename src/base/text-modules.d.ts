// SQL files are imported as text and become part of the executable.
declare module "*.sql" {
  const text: string;
  export default text;
}

// A file that is embedded: its path, which is a virtual one in the executable.
declare module "*/standalone.js" {
  const path: string;
  export default path;
}

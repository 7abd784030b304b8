// Module types for SQL files, imported as text and embedded in the executable.
declare module "*.sql" {
  const text: string;
  export default text;
}

// Path of an embedded file, virtual within the executable.
declare module "*/standalone.js" {
  const path: string;
  export default path;
}

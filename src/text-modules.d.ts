// SQL files are imported as text and become part of the executable.
declare module "*.sql" {
  const text: string;
  export default text;
}

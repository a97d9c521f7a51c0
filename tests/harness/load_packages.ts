/**
 * Imports the ES modules that packages of tests `require()`: Express has three of them, React-admin one.
 *
 * Deno analyses a package when a module imports it, and keeps the result. If a `require()` waits for such an
 * analysis, Deno 2.9.6 may hang, most likely where test files run side by side; an `import` does not.
 *
 * @module
 */
import "npm:async-function@1";
import "npm:async-generator-function@1";
import "npm:generator-function@2";
import "npm:react-router-dom@7";

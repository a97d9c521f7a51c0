/**
 * Imports the ES modules that packages of tests `require()`. If a `require()` waits until Deno has analysed such a
 * module, Deno 2.9.6 may hang, most likely where test files run side by side.
 *
 * @module
 */
import "npm:async-function@1";
import "npm:async-generator-function@1";
import "npm:generator-function@2";
import "npm:react-router-dom@7";

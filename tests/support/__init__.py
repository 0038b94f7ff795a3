"""What the tests share: real servers, real workers, cases, and graders that misbehave."""

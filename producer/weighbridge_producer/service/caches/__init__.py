"""What is known of batches and kept between requests: views of cases, counts, states and projects."""
